// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import Testing

/// Parameters, and their encoding.
@Suite struct ParameterEncoderSnippets {
    @Test func parametersAreEncodable() async throws {
        struct Login: Encodable {
            let email: String
            let password: String
        }
        try await HTTPBin.serve { httpbin in
            let response: AFDataResponse<Data?> = await handed { hand in
                let login = Login(email: "test@test.test", password: "testPassword")

                AF.request(
                    "\(httpbin)/post",
                    method: .post,
                    parameters: login,
                    encoder: JSONParameterEncoder.default
                ).response { response in
                    debugPrint(response)
                    hand(response)
                }
            }
            let echo = try JSONDecoder().decode(Echo.self, from: #require(response.data))
            let sent = try JSONDecoder().decode([String: String].self, from: Data(#require(echo.data).utf8))
            #expect(sent == ["email": "test@test.test", "password": "testPassword"])
            #expect(echo.headers["Content-Type"] == "application/json")
        }
    }

    @Test func aGETHasThemInItsQuery() async throws {
        try await HTTPBin.serve { httpbin in
            let parameters = ["foo": "bar"]

            // All three of these calls are equivalent
            let requests = [
                // encoding defaults to `URLEncoding.default`
                AF.request("\(httpbin)/get", parameters: parameters),
                AF.request(
                    "\(httpbin)/get", parameters: parameters, encoder: URLEncodedFormParameterEncoder.default),
                AF.request(
                    "\(httpbin)/get", parameters: parameters,
                    encoder: URLEncodedFormParameterEncoder(destination: .methodDependent)),
            ]

            // https://httpbin.org/get?foo=bar
            for request in requests {
                let echo = try await request.serializingDecodable(Echo.self).value
                #expect(echo.url == "\(httpbin)/get?foo=bar")
                #expect(echo.args == ["foo": "bar"])
            }
        }
    }

    @Test func aPOSTHasThemInItsBody() async throws {
        try await HTTPBin.serve { httpbin in
            let parameters: [String: [String]] = [
                "foo": ["bar"],
                "baz": ["a", "b"],
                "qux": ["x", "y", "z"],
            ]

            // All three of these calls are equivalent
            let requests = [
                AF.request("\(httpbin)/post", method: .post, parameters: parameters),
                AF.request(
                    "\(httpbin)/post", method: .post, parameters: parameters,
                    encoder: URLEncodedFormParameterEncoder.default),
                AF.request(
                    "\(httpbin)/post", method: .post, parameters: parameters,
                    encoder: URLEncodedFormParameterEncoder(destination: .httpBody)),
            ]

            // HTTP body: "qux[]=x&qux[]=y&qux[]=z&baz[]=a&baz[]=b&foo[]=bar"
            for request in requests {
                let echo = try await request.serializingDecodable(Echo.self).value
                #expect(echo.form == ["foo[]": "bar", "baz[]": ["a", "b"], "qux[]": ["x", "y", "z"]])
                #expect(echo.headers["Content-Type"] == "application/x-www-form-urlencoded; charset=utf-8")
            }
        }
    }

    @Test func pairsKeepTheirOrderIfTheyShould() throws {
        struct Ordered: Encodable {
            let zulu = 1
            let alpha = 2
        }
        let encoder = URLEncodedFormParameterEncoder(
            encoder: URLEncodedFormEncoder(alphabetizeKeyValuePairs: false))
        #expect(try query(of: Ordered(), by: encoder) == "zulu=1&alpha=2")
        #expect(try query(of: Ordered(), by: .default) == "alpha=2&zulu=1")
    }

    @Test func arraysHaveBracketsOrNone() throws {
        let encoder = URLEncodedFormParameterEncoder(
            encoder: URLEncodedFormEncoder(arrayEncoding: .noBrackets))
        #expect(try query(of: ["foo": [1, 2]], by: encoder) == "foo=1&foo=2")
        #expect(try query(of: ["foo": [1, 2]], by: .default) == "foo%5B%5D=1&foo%5B%5D=2")
        #expect(try query(of: ["foo": ["bar": "baz"]], by: .default) == "foo%5Bbar%5D=baz")
    }

    @Test func booleansAreNumbersOrWords() throws {
        let encoder = URLEncodedFormParameterEncoder(encoder: URLEncodedFormEncoder(boolEncoding: .numeric))
        #expect(try query(of: ["on": true], by: encoder) == "on=1")
        #expect(try query(of: ["on": true], by: .default) == "on=1")
        let literal = URLEncodedFormParameterEncoder(encoder: URLEncodedFormEncoder(boolEncoding: .literal))
        #expect(try query(of: ["on": true], by: literal) == "on=true")
    }

    @Test func dataIsBase64OrWhatAClosureMakes() throws {
        let data = ["data": Data("data".utf8)]
        let encoder = URLEncodedFormParameterEncoder(encoder: URLEncodedFormEncoder(dataEncoding: .base64))
        #expect(try query(of: data, by: encoder) == "data=ZGF0YQ%3D%3D")
        #expect(try query(of: data, by: .default) == "data=ZGF0YQ%3D%3D")
        let custom = URLEncodedFormParameterEncoder(
            encoder: URLEncodedFormEncoder(dataEncoding: .custom { "\($0.count)" }))
        #expect(try query(of: data, by: custom) == "data=4")
        let deferred = URLEncodedFormParameterEncoder(
            encoder: URLEncodedFormEncoder(arrayEncoding: .noBrackets, dataEncoding: .deferredToData))
        #expect(try query(of: ["data": Data([1, 2])], by: deferred) == "data=1&data=2")
    }

    @Test func datesHaveManyForms() throws {
        let date = ["date": Date(timeIntervalSince1970: 1_000_000_000)]
        let encoder = URLEncodedFormParameterEncoder(encoder: URLEncodedFormEncoder(dateEncoding: .iso8601))
        #expect(try query(of: date, by: encoder) == "date=2001-09-09T01%3A46%3A40Z")
        let seconds = URLEncodedFormParameterEncoder(
            encoder: URLEncodedFormEncoder(dateEncoding: .secondsSince1970))
        #expect(try query(of: date, by: seconds) == "date=1000000000.0")
        let milliseconds = URLEncodedFormParameterEncoder(
            encoder: URLEncodedFormEncoder(dateEncoding: .millisecondsSince1970))
        #expect(try query(of: date, by: milliseconds) == "date=1000000000000.0")
        let formatter = DateFormatter()
        formatter.timeZone = TimeZone(identifier: "UTC")
        formatter.dateFormat = "yyyy"
        let formatted = URLEncodedFormParameterEncoder(
            encoder: URLEncodedFormEncoder(dateEncoding: .formatted(formatter)))
        #expect(try query(of: date, by: formatted) == "date=2001")
        let custom = URLEncodedFormParameterEncoder(
            encoder: URLEncodedFormEncoder(dateEncoding: .custom { _ in "then" }))
        #expect(try query(of: date, by: custom) == "date=then")
        #expect(
            try query(of: date, by: .default) == "date=\(date["date"]?.timeIntervalSinceReferenceDate ?? 0)")
    }

    @Test func keysHaveManyStyles() throws {
        let encoder = URLEncodedFormParameterEncoder(
            encoder: URLEncodedFormEncoder(keyEncoding: .convertToSnakeCase))
        #expect(try query(of: ["oneTwoThree": 1], by: encoder) == "one_two_three=1")
        #expect(try query(of: ["oneTwoThree": 1], by: .default) == "oneTwoThree=1")
        let others: [(URLEncodedFormEncoder.KeyEncoding, String)] = [
            (.useDefaultKeys, "oneTwoThree"), (.convertToKebabCase, "one-two-three"),
            (.capitalized, "OneTwoThree"), (.uppercased, "ONETWOTHREE"), (.lowercased, "onetwothree"),
            (.custom { "my" + $0 }, "myoneTwoThree"),
        ]
        for (encoding, key) in others {
            let encoder = URLEncodedFormParameterEncoder(
                encoder: URLEncodedFormEncoder(keyEncoding: encoding))
            #expect(try query(of: ["oneTwoThree": 1], by: encoder) == "\(key)=1")
        }
    }

    @Test func blanksAreEscapedOrReplaced() throws {
        let encoder = URLEncodedFormParameterEncoder(
            encoder: URLEncodedFormEncoder(spaceEncoding: .plusReplaced))
        #expect(try query(of: ["a": "b c"], by: encoder) == "a=b+c")
        #expect(try query(of: ["a": "b c"], by: .default) == "a=b%20c")
    }

    @Test func aBodyCanBeJSON() async throws {
        try await HTTPBin.serve { httpbin in
            let parameters: [String: [String]] = [
                "foo": ["bar"],
                "baz": ["a", "b"],
                "qux": ["x", "y", "z"],
            ]

            let requests = [
                AF.request(
                    "\(httpbin)/post", method: .post, parameters: parameters,
                    encoder: JSONParameterEncoder.default),
                AF.request(
                    "\(httpbin)/post", method: .post, parameters: parameters,
                    encoder: JSONParameterEncoder.prettyPrinted),
                AF.request(
                    "\(httpbin)/post", method: .post, parameters: parameters,
                    encoder: JSONParameterEncoder.sortedKeys),
            ]

            // HTTP body: {"baz":["a","b"],"foo":["bar"],"qux":["x","y","z"]}
            var bodies: [String] = []
            for request in requests {
                let echo = try await request.serializingDecodable(Echo.self).value
                #expect(echo.headers["Content-Type"] == "application/json")
                bodies.append(try #require(echo.data))
                #expect(
                    try JSONDecoder().decode(
                        [String: [String]].self, from: Data(bodies[bodies.count - 1].utf8))
                        == parameters)
            }
            #expect(bodies[1].contains("\n"))
            #expect(bodies[2] == #"{"baz":["a","b"],"foo":["bar"],"qux":["x","y","z"]}"#)
        }
    }

    /// The guide's `dateEncoding` is JSONEncoder's `dateEncodingStrategy`.
    @Test func theJSONEncoderCanBeOnesOwn() throws {
        struct Visit: Encodable {
            let firstSeen: Date
        }
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.keyEncodingStrategy = .convertToSnakeCase
        let parameterEncoder = JSONParameterEncoder(encoder: encoder)

        let urlRequest = try parameterEncoder.encode(
            Visit(firstSeen: Date(timeIntervalSince1970: 0)),
            into: URLRequest(url: "http://localhost", method: .post))
        let body = try #require(urlRequest.httpBody)
        #expect(String(decoding: body, as: UTF8.self) == #"{"first_seen":"1970-01-01T00:00:00Z"}"#)
    }

    @Test func parametersCanBeEncodedByHand() throws {
        let url = try #require(URL(string: "https://httpbin.org/get"))
        let urlRequest = URLRequest(url: url)

        let parameters = ["foo": "bar"]
        let encodedURLRequest = try URLEncodedFormParameterEncoder.default.encode(
            parameters,
            into: urlRequest)
        #expect(encodedURLRequest.url?.absoluteString == "https://httpbin.org/get?foo=bar")
    }

    private func query<Value: Encodable & Sendable>(
        of parameters: Value, by encoder: URLEncodedFormParameterEncoder
    ) throws -> String? {
        try encoder.encode(parameters, into: URLRequest(url: "http://localhost", method: .get)).url?.query(
            percentEncoded: true)
    }
}
