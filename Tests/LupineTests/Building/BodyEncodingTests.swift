// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import Testing

@testable import Lupine

/// `JSONEncoding` and `PropertyListEncoding`.
@Suite struct BodyEncodingTests {
    private struct Point: Sendable {}

    private struct Sample: Decodable, Equatable {
        let a: Int
        let b: [Bool]
        let d: Date
        let e: Data
    }

    @Test("[E-4.3.1] without an object the request is unchanged, whatever its method")
    func unchanged() throws {
        let plain = try EncodedRequest.plain("POST")
        #expect(try JSONEncoding.default.encode(plain, with: nil) == plain)
        #expect(try JSONEncoding.default.encode(plain) == plain)
        #expect(try JSONEncoding.default.encode(plain, withJSONObject: nil) == plain)
        let get = EncodedRequest(try JSONEncoding.default.encode(EncodedRequest.plain("GET"), with: ["a": 1]))
        #expect(get.body == #"{"a":1}"#)
    }

    @Test("[E-4.3.2] objects that JSON cannot represent are an error")
    func invalidObjects() throws {
        let plain = try EncodedRequest.plain("POST")
        let objects: [Any] = [
            ["a": Point()], ["a": Date()], ["a": Double.nan], "text", 1, [1: 2], ["a": ["b": Data()]],
        ]
        for object in objects {
            for encoding in [JSONEncoding.default, JSONEncoding(options: .fragmentsAllowed)] {
                #expect {
                    try encoding.encode(plain, withJSONObject: object)
                } throws: { error in
                    guard
                        case AFError.parameterEncodingFailed(reason: .jsonEncodingFailed(let cause)) = error,
                        case JSONEncoding.Error.invalidJSONObject = cause
                    else { return false }
                    return true
                }
            }
        }
        #expect(JSONEncoding.Error.invalidJSONObject.localizedDescription.contains("Invalid JSON object"))
    }

    @Test("[E-4.3.3] errors of the conversion are thrown unchanged")
    func conversionFailure() {
        #expect(throws: FailingConvertible.Failure.self) {
            try JSONEncoding.default.encode(FailingConvertible(), with: ["a": 1])
        }
        #expect(throws: FailingConvertible.Failure.self) {
            try PropertyListEncoding.default.encode(FailingConvertible(), with: ["a": 1])
        }
    }

    @Test("[E-4.3.4] JSON is written into the body; an existing content type and the URL are kept")
    func json() throws {
        let result = EncodedRequest(
            try JSONEncoding.default.encode(EncodedRequest.plain("POST", "http://h/p?q=1"), with: ["k": "v"]))
        #expect(result.body == #"{"k":"v"}"# && result.type == "application/json")
        #expect(result.address == "http://h/p?q=1")
        let pretty = try JSONEncoding.prettyPrinted.encode(EncodedRequest.plain("POST"), with: ["k": "v"])
        #expect(EncodedRequest(pretty).body == "{\n  \"k\" : \"v\"\n}")
        var typed = try EncodedRequest.plain("POST")
        typed.setValue("application/vnd.x+json", forHTTPHeaderField: "content-type")
        let kept = EncodedRequest(try JSONEncoding.default.encode(typed, with: [:]))
        #expect(kept.type == "application/vnd.x+json" && kept.body == "{}")
    }

    @Test("[E-4.3.5] an array may be the root object")
    func array() throws {
        let result = try JSONEncoding.default.encode(
            EncodedRequest.plain("POST"), withJSONObject: ["a", 1] as [Any])
        #expect(EncodedRequest(result).body == #"["a",1]"#)
    }

    @Test("property lists in both formats")
    func propertyList() throws {
        let date = Date(timeIntervalSince1970: 0)
        let parameters: Parameters = ["a": 1, "b": [true], "d": date, "e": Data([7])]
        for (encoding, start) in [
            (PropertyListEncoding.default, "<?xml"), (.xml, "<?xml"), (.binary, "bplist00"),
        ] {
            let result = EncodedRequest(try encoding.encode(EncodedRequest.plain("POST"), with: parameters))
            #expect(result.type == "application/x-plist")
            let body = try #require(result.request.httpBody)
            #expect(body.starts(with: start.utf8))
            let read = try PropertyListDecoder().decode(Sample.self, from: body)
            #expect(read == Sample(a: 1, b: [true], d: date, e: Data([7])))
        }
        var typed = try EncodedRequest.plain("POST")
        typed.setValue("text/x", forHTTPHeaderField: "Content-Type")
        #expect(EncodedRequest(try PropertyListEncoding.xml.encode(typed, with: ["a": 1])).type == "text/x")
        #expect(try PropertyListEncoding.xml.encode(typed, with: nil) == typed)
    }

    @Test("objects that a property list cannot represent are an error")
    func invalidPropertyList() throws {
        let plain = try EncodedRequest.plain("POST")
        for value in [Point(), NSNull()] as [any Sendable] {
            #expect {
                try PropertyListEncoding.xml.encode(plain, with: ["a": value])
            } throws: { error in
                guard case AFError.parameterEncodingFailed(reason: .customEncodingFailed(let cause)) = error,
                    case PropertyListEncoding.Error.invalidPropertyList = cause
                else { return false }
                return true
            }
        }
    }
}
