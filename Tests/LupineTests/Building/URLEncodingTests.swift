// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import Testing

@testable import Lupine

@Suite struct URLEncodingTests {
    private func encoded(
        _ parameters: Parameters?, method: String = "GET", address: String = "http://h/p",
        with encoding: URLEncoding = .default
    ) throws -> EncodedRequest {
        EncodedRequest(try encoding.encode(EncodedRequest.plain(method, address), with: parameters))
    }

    private func text(_ parameters: Parameters, with encoding: URLEncoding = .httpBody) throws -> String {
        try #require(encoded(parameters, method: "POST", with: encoding).body)
    }

    @Test("[E-4.2.3] a relative URL is resolved against its base")
    func relativeAddresses() throws {
        let base = try #require(URL(string: "http://h/a/b"))
        var request = URLRequest(url: base)
        request.url = URL(string: "c?d=e", relativeTo: base)
        let encodings: [(URLRequest) throws -> URLRequest] = [
            { try URLEncoding.default.encode($0, with: ["f": "g"]) },
            { try URLEncodedFormParameterEncoder.default.encode(["f": "g"], into: $0) },
        ]
        for encode in encodings {
            #expect(try encode(request).url?.absoluteString == "http://h/a/c?d=e&f=g")
        }
    }

    @Test("[E-4.2.1] without parameters the request is unchanged, whatever the destination")
    func noParameters() throws {
        for encoding in [URLEncoding.default, .queryString, .httpBody] {
            for method in ["GET", "POST"] {
                let plain = try EncodedRequest.plain(method)
                #expect(try encoding.encode(plain, with: nil) == plain)
            }
        }
        #expect(throws: FailingConvertible.Failure.self) {
            try URLEncoding.default.encode(FailingConvertible(), with: nil)
        }
    }

    @Test(
        "[E-4.2.2] the method and the destination determine query or body",
        arguments: [
            ("GET", true), ("HEAD", true), ("DELETE", true), ("POST", false), ("PUT", false),
            ("PATCH", false),
            ("QUERY", false), ("OPTIONS", false), ("PURGE", false), ("Get ", false),
        ])
    func destination(method: String, isQuery: Bool) throws {
        let result = try encoded(["a": 1], method: method)
        #expect(result.address == (isQuery ? "http://h/p?a=1" : "http://h/p"))
        #expect(result.body == (isQuery ? nil : "a=1"))
        #expect(try encoded(["a": 1], method: method, with: .queryString).address == "http://h/p?a=1")
        #expect(try encoded(["a": 1], method: method, with: .httpBody).body == "a=1")
        #expect(!URLEncoding.Destination.queryString.encodesInQuery(nil))
    }

    @Test("[E-4.2.3] pairs are appended to an existing query, and nothing else changes")
    func query() throws {
        let result = try encoded(["z": 2], address: "http://h/p?q=1#f")
        #expect(result.address == "http://h/p?q=1&z=2#f")
        #expect(result.type == nil && result.body == nil)
        #expect(try encoded(["z": 2], address: "http://h/p?q=%5b%20+").address == "http://h/p?q=%5b%20+&z=2")
        #expect(try encoded([:], address: "http://h/p?q=1#f").address == "http://h/p?q=1#f")
        #expect(try encoded([:]).address == "http://h/p")
        var request = try EncodedRequest.plain()
        request.url = nil
        #expect {
            try URLEncoding.default.encode(request, with: ["a": 1])
        } throws: { error in
            if case AFError.parameterEncodingFailed(reason: .missingURL) = error { true } else { false }
        }
    }

    @Test(
        "[E-4.2.4, E-10.5] edge cases of a query",
        arguments: [
            ("http://h/p?", ["a": 1] as Parameters, "http://h/p?&a=1"),
            ("http://h/p", ["a": [Int]()], "http://h/p?"),
            ("http://h/p?q=1", ["a": [Int]()], "http://h/p?q=1&"),
        ])
    func corners(address: String, parameters: Parameters, expected: String) throws {
        #expect(try encoded(parameters, address: address).address == expected)
    }

    @Test("[E-4.2.5] the body's content type is that of a form, unless one is set")
    func body() throws {
        let form = "application/x-www-form-urlencoded; charset=utf-8"
        let result = try encoded(["ü": "a b"], method: "POST")
        #expect(result.type == form && result.body == "%C3%BC=a%20b" && result.address == "http://h/p")
        let empty = try encoded([:], method: "POST")
        #expect(empty.type == form && empty.body?.isEmpty == true)
        var request = try EncodedRequest.plain("POST")
        request.setValue("text/x", forHTTPHeaderField: "content-type")
        let kept = EncodedRequest(try URLEncoding.default.encode(request, with: ["a": 1]))
        #expect(kept.type == "text/x" && kept.body == "a=1")
    }

    @Test("[E-4.2.6] top-level keys are sorted as strings, before they are escaped")
    func sorted() throws {
        #expect(
            try text(["b": 1, "a": 2, "C": 3, "a b": 4, "ab": 5, "a-": 6]) == "C=3&a=2&a%20b=4&a-=6&ab=5&b=1")
    }

    @Test(
        "[E-4.2.7, E-4.2.8] the text of each kind of value",
        arguments: [
            (["a": ["b": 1]] as Parameters, "a%5Bb%5D=1"),
            (["a": [3, 1, 2]], "a%5B%5D=3&a%5B%5D=1&a%5B%5D=2"),
            (["a": 1, "b": true, "c": "x"], "a=1&b=1&c=x"),
            (["a": ["n": [1, 2]]], "a%5Bn%5D%5B%5D=1&a%5Bn%5D%5B%5D=2"),
            (["a": ["y": 2, "x": 1]], "a%5Bx%5D=1&a%5By%5D=2"),
            (["a": ["one", 2, false] as [any Sendable]], "a%5B%5D=one&a%5B%5D=2&a%5B%5D=0"),
        ])
    func kinds(parameters: Parameters, expected: String) throws {
        #expect(try text(parameters) == expected)
    }

    @Test("[E-4.2.7] Foundation's collections are written like Swift's")
    func foundationCollections() {
        let encoding = URLEncoding.default
        let entries = encoding.queryComponents(
            fromKey: "k", value: NSDictionary(dictionary: ["x": NSNumber(value: 1)]))
        #expect(entries.map { "\($0)=\($1)" } == ["k%5Bx%5D=1"])
        let elements = encoding.queryComponents(
            fromKey: "k", value: NSArray(array: ["a", NSNumber(value: true)]))
        #expect(elements.map { "\($0)=\($1)" } == ["k%5B%5D=a", "k%5B%5D=1"])
    }

    @Test("[E-4.2.9] a key is composed, then escaped as a whole")
    func composedKey() throws {
        #expect(try text(["a": ["b c": ["ü": 1]]]) == "a%5Bb%20c%5D%5B%C3%BC%5D=1")
    }

    @Test("[E-4.2.10] the keys of arrays")
    func arrayKeys() throws {
        let row: Parameters = ["k": ["x", "y"]]
        #expect(try text(row, with: URLEncoding(arrayEncoding: .brackets)) == "k%5B%5D=x&k%5B%5D=y")
        #expect(try text(row, with: URLEncoding(arrayEncoding: .noBrackets)) == "k=x&k=y")
        #expect(try text(row, with: URLEncoding(arrayEncoding: .indexInBrackets)) == "k%5B0%5D=x&k%5B1%5D=y")
        let custom = URLEncoding(arrayEncoding: .custom { key, index in "\(key).\(index)" })
        #expect(try text(row, with: custom) == "k.0=x&k.1=y")
        #expect(try text(["m": ["n": [1]]], with: custom) == "m%5Bn%5D.0=1")
        #expect(try text(["m": [[7]]]) == "m%5B%5D%5B%5D=7")
        #expect(try text(["m": [["k": 7]]]) == "m%5B%5D%5Bk%5D=7")
    }

    @Test("[E-4.2.11] empty collections write no pair")
    func emptyCollections() throws {
        #expect(try text(["a": [Int](), "b": [String: Int](), "c": 1]) == "c=1")
    }

    @Test("[E-4.2.12] an NSNumber is a Boolean only if it was made from one")
    func booleans() throws {
        let values: Parameters = [
            "a": true, "b": NSNumber(value: false), "c": NSNumber(value: 1), "d": 1, "e": 1.0,
            "f": NSNumber(value: 0),
            "g": NSNumber(value: Int8(1)), "h": Bool?.some(true) as any Sendable,
        ]
        #expect(try text(values) == "a=1&b=0&c=1&d=1&e=1&f=0&g=1&h=1")
        let literal = URLEncoding(boolEncoding: .literal)
        #expect(try text(values, with: literal) == "a=true&b=false&c=1&d=1&e=1&f=0&g=1&h=true")
    }

    @Test(
        "[E-4.2.13, E-10.1] numbers are written in their shortest form, without `.0`",
        arguments: [
            (1.0 as any Sendable, "1"), (0.0, "0"), (2.5, "2.5"), (Float(0.1), "0.1"), (Float(3), "3"),
            (Decimal(string: "1.10") ?? 0, "1.1"), (Decimal(7), "7"), (NSNumber(value: 1.0), "1"),
            (NSNumber(value: 2.5), "2.5"), (NSDecimalNumber(string: "4.50"), "4.5"), (Int8(-5), "-5"),
            (UInt64.max, "18446744073709551615"), (1e16, "1e%2B16"), (-2.0, "-2"), (CGFloat(4), "4"),
            (AnyHashable(6.0) as any Sendable, "6"),
        ])
    func numbers(value: any Sendable, expected: String) throws {
        #expect(try text(["k": value]) == "k=\(expected)")
    }

    private enum Colour { case red }
    private struct Point: Sendable { var x = 1 }

    @Test("[E-4.2.14] other values are interpolated")
    func interpolations() throws {
        let url = try #require(URL(string: "http://h/p"))
        let rows: [(any Sendable, String)] = [
            ("x y", "x%20y"), (url, "http%3A//h/p"),
            (Date(timeIntervalSince1970: 0), "1970-01-01%2000%3A00%3A00%20%2B0000"),
            (Colour.red, "red"), (Point(), "Point%28x%3A%201%29"), (NSNull(), "%3Cnull%3E"),
            (String?.none as any Sendable, "nil"), (Data([1, 2]), "2%20bytes"),
            (String?.some("s") as any Sendable, "s"),
            (Int??.some(.some(3)) as any Sendable, "3"), (Character("c"), "c"),
        ]
        for (value, expected) in rows { #expect(try text(["k": value]) == "k=\(expected)") }
    }

    @Test("[E-4.2.15] `queryComponents` returns the pairs of a value")
    func pairs() {
        let pairs = URLEncoding.default.queryComponents(fromKey: "k", value: ["x": true])
        #expect(pairs.map(\.0) == ["k%5Bx%5D"] && pairs.map(\.1) == ["1"])
    }

    @Test("[E-10.2] arrays keep their order")
    func arrayOrder() throws {
        #expect(try text(["n": [30, 4, 200]]) == "n%5B%5D=30&n%5B%5D=4&n%5B%5D=200")
    }

    @Test("a dictionary of Any is accepted")
    func dictionaryOfAny() throws {
        let parameters: [String: Any] = ["a": 1, "b": ["c": NSNull()]]
        let request = try URLEncoding.httpBody.encode(EncodedRequest.plain("POST"), with: parameters)
        #expect(EncodedRequest(request).body == "a=1&b%5Bc%5D=%3Cnull%3E")
    }
}
