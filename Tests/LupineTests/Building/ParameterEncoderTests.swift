// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import Testing

@testable import Lupine

@Suite struct ParameterEncoderTests {
    private struct Refusing: Encodable, Sendable {
        struct Refusal: Error {}
        func encode(to encoder: any Encoder) throws { throw Refusal() }
    }

    private func encoded(
        _ parameters: (some Encodable & Sendable)?, by encoder: any ParameterEncoder,
        into request: URLRequest
    ) throws -> EncodedRequest {
        EncodedRequest(try encoder.encode(parameters, into: request))
    }

    @Test("the static accessors, as properties and functions")
    func accessors() throws {
        let post = try EncodedRequest.plain("POST")
        #expect(try encoded(["k": "v"], by: .json, into: post).body == #"{"k":"v"}"#)
        #expect(try encoded(["k": "v"], by: .json(), into: post).body == #"{"k":"v"}"#)
        #expect(
            try encoded(["k": "v"], by: .json(encoder: JSONEncoder()), into: post).type == "application/json")
        #expect(try encoded(["k": "v"], by: .urlEncodedForm, into: post).body == "k=v")
        #expect(try encoded(["k": "v"], by: .urlEncodedForm(), into: post).body == "k=v")
        #expect(
            try encoded(["k": "v"], by: .urlEncodedForm(destination: .queryString), into: post).address
                == "http://h/p?k=v")
        #expect(try encoded(["k": "v"], by: .propertyList, into: post).type == "application/x-plist")
        #expect(try encoded(["k": "v"], by: .propertyList, into: post).body?.hasPrefix("<?xml") == true)
        #expect(try encoded(["k": "v"], by: .propertyList(), into: post).body?.hasPrefix("<?xml") == true)
        // The program's own encoder writes its own format, and Foundation's default is binary.
        #expect(
            try encoded(["k": "v"], by: .propertyList(encoder: PropertyListEncoder()), into: post).body?
                .hasPrefix("bplist00") == true)
    }

    @Test("[E-5.1.1] JSON goes into the body of any method, and keeps a content type")
    func json() throws {
        let get = try EncodedRequest.plain("GET", "http://h/p?q=1")
        #expect(try JSONParameterEncoder.default.encode(String?.none, into: get) == get)
        let result = EncodedRequest(try JSONParameterEncoder.default.encode(["a": 1], into: get))
        #expect(result.body == #"{"a":1}"# && result.type == "application/json")
        #expect(result.address == "http://h/p?q=1")
        var typed = get
        typed.setValue("text/x", forHTTPHeaderField: "CONTENT-TYPE")
        #expect(EncodedRequest(try JSONParameterEncoder.default.encode(1, into: typed)).type == "text/x")
    }

    @Test("[E-5.1.2, E-10.4] JSON fails with the encoding's error, the form with the encoder's")
    func failures() throws {
        let post = try EncodedRequest.plain("POST")
        #expect {
            try JSONParameterEncoder.default.encode(Refusing(), into: post)
        } throws: { error in
            if case AFError.parameterEncodingFailed(reason: .jsonEncodingFailed(let cause)) = error {
                cause is Refusing.Refusal
            } else {
                false
            }
        }
        #expect {
            try URLEncodedFormParameterEncoder.default.encode(Refusing(), into: post)
        } throws: { error in
            if case AFError.parameterEncoderFailed(reason: .encoderFailed(let cause)) = error {
                cause is Refusing.Refusal
            } else {
                false
            }
        }
        #expect {
            try PropertyListParameterEncoder.default.encode(Refusing(), into: post)
        } throws: { error in
            if case AFError.parameterEncoderFailed(reason: .encoderFailed) = error { true } else { false }
        }
    }

    @Test("[E-5.1.3] the body is the output of JSONEncoder")
    func jsonText() throws {
        let post = try EncodedRequest.plain("POST")
        func text(_ encoder: JSONParameterEncoder, _ value: [String: String]) throws -> String? {
            EncodedRequest(try encoder.encode(value, into: post)).body
        }
        #expect(try text(.default, ["k": "v"]) == #"{"k":"v"}"#)
        #expect(try text(.default, ["k": "a/b"]) == #"{"k":"a\/b"}"#)
        #expect(try text(.prettyPrinted, ["k": "v"]) == "{\n  \"k\" : \"v\"\n}")
        #expect(try text(.sortedKeys, ["b": "1", "a": "2", "c": "3"]) == #"{"a":"2","b":"1","c":"3"}"#)
        #expect(JSONParameterEncoder.default !== JSONParameterEncoder.default)
        #expect(JSONParameterEncoder.prettyPrinted.encoder.outputFormatting == .prettyPrinted)
        #expect(JSONParameterEncoder.default.encoder.outputFormatting == [])
    }

    @Test("property lists, in both formats")
    func propertyLists() throws {
        let post = try EncodedRequest.plain("POST")
        for (encoder, start) in [
            (PropertyListParameterEncoder.default, "<?xml"), (PropertyListParameterEncoder(), "<?xml"),
            (.binary, "bplist00"), (.xml, "<?xml"),
        ] {
            let result = EncodedRequest(try encoder.encode(["a": [1, 2]], into: post))
            let body = try #require(result.request.httpBody)
            #expect(result.type == "application/x-plist" && body.starts(with: start.utf8))
            #expect(try PropertyListDecoder().decode([String: [Int]].self, from: body) == ["a": [1, 2]])
        }
        #expect(try PropertyListParameterEncoder.xml.encode(Int?.none, into: post) == post)
    }

    @Test("[E-5.2.1] a form needs a URL, but only when there are parameters")
    func requiredComponents() throws {
        var request = try EncodedRequest.plain("POST")
        request.url = nil
        #expect(try URLEncodedFormParameterEncoder.default.encode(Int?.none, into: request) == request)
        #expect {
            try URLEncodedFormParameterEncoder.default.encode(Refusing(), into: request)
        } throws: { error in
            if case AFError.parameterEncoderFailed(reason: .missingRequiredComponent(.url)) = error {
                true
            } else {
                false
            }
        }
    }

    @Test(
        "[E-5.2.2] the method and the destination determine query or body",
        arguments: [
            ("GET", true), ("HEAD", true), ("DELETE", true), ("POST", false), ("PUT", false),
            ("PATCH", false),
            ("QUERY", false), ("PURGE", false),
        ])
    func destination(method: String, isQuery: Bool) throws {
        let request = try EncodedRequest.plain(method)
        let result = EncodedRequest(
            try URLEncodedFormParameterEncoder.default.encode(["a": 1], into: request))
        #expect(result.address == (isQuery ? "http://h/p?a=1" : "http://h/p"))
        #expect(result.body == (isQuery ? nil : "a=1"))
        let query = URLEncodedFormParameterEncoder(destination: .queryString)
        #expect(EncodedRequest(try query.encode(["a": 1], into: request)).address == "http://h/p?a=1")
        let body = URLEncodedFormParameterEncoder(destination: .httpBody)
        #expect(EncodedRequest(try body.encode(["a": 1], into: request)).body == "a=1")
    }

    @Test(
        "[E-5.2.3, E-10.5] the form is appended to an existing query; an empty one adds no query",
        arguments: [
            ("http://h/p", [:], "http://h/p"), ("http://h/p?a=1", [:], "http://h/p?a=1&"),
            ("http://h/p?", ["b": 2], "http://h/p?&b=2"), ("http://h/p?", [:], "http://h/p?&"),
            ("http://h/p?q=%5b#f", ["z": 2], "http://h/p?q=%5b&z=2#f"),
            ("http://h", ["z": 2], "http://h?z=2"),
        ] as [(String, [String: Int], String)])
    func query(address: String, parameters: [String: Int], expected: String) throws {
        let request = try EncodedRequest.plain("GET", address)
        let result = EncodedRequest(
            try URLEncodedFormParameterEncoder.default.encode(parameters, into: request))
        #expect(result.address == expected && result.body == nil && result.type == nil)
    }

    @Test("[E-5.2.3] components that form no URL are an error")
    func noURL() throws {
        var components = URLComponents()
        components.path = "//foo"
        #expect {
            try URLEncodedFormParameterEncoder.default.insert(
                "a=1", into: components, of: EncodedRequest.plain())
        } throws: { error in
            if case AFError.parameterEncoderFailed(reason: .missingRequiredComponent(.url)) = error {
                true
            } else {
                false
            }
        }
    }

    @Test("[E-5.2.4] without components the form is written into the body")
    func noComponents() throws {
        let result = EncodedRequest(
            try URLEncodedFormParameterEncoder.default.insert("a=1", into: nil, of: EncodedRequest.plain()))
        #expect(result.body == "a=1" && result.address == "http://h/p")
    }

    @Test("[E-5.2.5] the body's content type is that of a form, unless one is set")
    func body() throws {
        var request = try EncodedRequest.plain("POST")
        let result = EncodedRequest(
            try URLEncodedFormParameterEncoder.default.encode(["a": "ü"], into: request))
        #expect(
            result.type == "application/x-www-form-urlencoded; charset=utf-8" && result.body == "a=%C3%BC")
        let empty = EncodedRequest(try URLEncodedFormParameterEncoder.default.encode([Int](), into: request))
        #expect(empty.type == result.type && empty.body?.isEmpty == true)
        request.setValue("text/x", forHTTPHeaderField: "Content-Type")
        let kept = EncodedRequest(try URLEncodedFormParameterEncoder.default.encode(["a": 1], into: request))
        #expect(kept.type == "text/x" && kept.body == "a=1")
    }

    @Test("[E-5.2.6] the error contains the encoder's error")
    func encoderError() throws {
        #expect {
            try URLEncodedFormParameterEncoder.default.encode([1], into: EncodedRequest.plain("POST"))
        } throws: { error in
            guard case AFError.parameterEncoderFailed(reason: .encoderFailed(let cause)) = error,
                case URLEncodedFormEncoder.Error.invalidRootObject = cause
            else { return false }
            return true
        }
    }

    @Test("allowed brackets are escaped in a query, but not in a body")
    func wideSet() throws {
        let allowed = CharacterSet.afURLQueryAllowed.union(CharacterSet(charactersIn: "[]"))
        let encoder = URLEncodedFormParameterEncoder(
            encoder: URLEncodedFormEncoder(allowedCharacters: allowed))
        let get = EncodedRequest(try encoder.encode(["a": [1]], into: EncodedRequest.plain()))
        #expect(get.address == "http://h/p?a%5B%5D=1")
        let post = EncodedRequest(try encoder.encode(["a": [1]], into: EncodedRequest.plain("POST")))
        #expect(post.body == "a[]=1")
    }
}
