// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineTestKit
import Testing

@testable import Lupine

/// The description of a decoding error: the position, what was expected, and the beginning of the content.
struct DecodingErrorTests {
    struct Flower: Decodable, Sendable {
        let name: String
        let colour: String
    }

    struct Garden: Decodable, Sendable {
        let flowers: [Flower]
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let content: String
        /// Texts that the description contains, in this order.
        let parts: [String]
        var absent: [String] = []
    }

    static let rows = [
        Row(
            testDescription: "another type", content: #"{"flowers":[{"name":"lupine","colour":7}]}"#,
            parts: [
                "at flowers[0].colour: ", "String", "number",
                #"begins with: {"flowers":[{"name":"lupine","colour":7}]}"#,
            ]),
        Row(
            testDescription: "a missing member", content: #"{"flowers":[{"name":"lupine"}]}"#,
            parts: ["at flowers[0]: ", "colour", #"begins with: {"flowers""#]),
        Row(
            testDescription: "a page where JSON was expected", content: "<html>\r\n<title>Log in</title>",
            parts: ["JSON", #"begins with: <html>\r\n<title>Log in</title>"#]),
        Row(
            testDescription: "secrets",
            content: #"{"access_token":"abc\u0041def","x":1, "api-key" : 42,"flowers":3}"#,
            parts: [
                "at flowers: ", #""access_token":[redacted],"x":1, "api-key" : [redacted],"flowers":3}"#,
            ],
            absent: ["abc", "42"]),
        Row(
            testDescription: "a secret with a quote in it", content: #"{"password":"ab\"cd","flowers":3}"#,
            parts: [#"{"password":[redacted],"flowers":3}"#], absent: ["ab", "cd"]),
        Row(
            testDescription: "secrets in an array",
            content: #"{"x":{"y":1},"tokens":["abc","def"],"flowers":3}"#,
            parts: [#"{"x":{"y":1},"tokens":[redacted]…"#], absent: ["abc", "def"]),
        Row(
            testDescription: "a long content",
            content: #"{"flowers":3,"rest":""# + String(repeating: "x", count: 9_000) + #""}"#,
            parts: ["at flowers: ", "xxxx…"], absent: [String(repeating: "x", count: 121)]),
    ]

    @Test("a decoding error names the position, and shows the beginning of the content", arguments: rows)
    func texts(_ row: Row) throws {
        let error = try #require(throws: AFError.self) {
            try DecodableResponseSerializer<Garden>().serialize(
                request: nil, response: nil, data: Data(row.content.utf8), error: nil)
        }
        let text = try #require(error.errorDescription)
        var remainder = text[...]
        for part in row.parts {
            let range = try #require(remainder.range(of: part), "\(part) in \(text)")
            remainder = remainder[range.upperBound...]
        }
        for part in row.absent { #expect(!text.contains(part), "\(text)") }
        #expect(error.underlyingError is DecodingError)
    }

    @Test("keys and values from the peer may have any length, and only their beginning is shown")
    func longTexts() throws {
        enum Colour: String, Decodable { case red }
        let long = String(repeating: "kü", count: 50_000)
        let contents = [
            #"{"\#(long)":"x"}"#, #"{"\#(long)":{"\#(long)":[[["x"]]]}}"#,
            String(repeating: #"{"k":"#, count: 400) + "1" + String(repeating: "}", count: 400),
        ]
        for content in contents {
            let error = try #require(throws: AFError.self) {
                try DecodableResponseSerializer<[String: Nest]>().serialize(
                    request: nil, response: nil, data: Data(content.utf8), error: nil)
            }
            let text = try #require(error.errorDescription)
            #expect(text.utf8.count < 2_000 && text.contains("at k"), "\(text.utf8.count)")
        }
        let error = try #require(throws: AFError.self) {
            try DecodableResponseSerializer<[Colour]>().serialize(
                request: nil, response: nil, data: Data(#"["\#(long)"]"#.utf8), error: nil)
        }
        #expect(try #require(error.errorDescription).utf8.count < 2_000)
    }

    /// Nested objects, with arrays of numbers at the end.
    struct Nest: Decodable, Sendable {
        init(from decoder: any Decoder) throws {
            if let members = try? decoder.container(keyedBy: Key.self) {
                for key in members.allKeys { _ = try members.decode(Nest.self, forKey: key) }
            } else {
                _ = try decoder.singleValueContainer().decode([[[Int]]].self)
            }
        }

        private struct Key: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }
            init?(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }
    }

    @Test("errors of stream serializers have the same description")
    func streams() throws {
        let data = Data(#"{"flowers":3}"#.utf8)
        for serialize in [
            { try DecodableStreamSerializer<Garden>().serialize(data) },
            { try NDJSONSerializer<Garden>().serialize(data) },
        ] {
            let error = try #require(throws: AFError.self) { _ = try serialize() }
            let text = try #require(error.errorDescription)
            #expect(text.contains("at flowers: ") && text.hasSuffix(#"begins with: {"flowers":3}"#))
        }
    }
}
