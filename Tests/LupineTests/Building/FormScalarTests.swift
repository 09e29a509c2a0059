// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import Lupine

/// The text of single values in forms.
@Suite struct FormScalarTests {
    private func text(_ value: any Encodable, _ encoder: URLEncodedFormEncoder = .init()) throws -> String {
        try encoder.encode(value)
    }

    @Test(
        "[E-6.1.13, E-10.1] the text of scalars",
        arguments: [
            (true as any Encodable & Sendable, "1"), ("a b", "a%20b"), (-7, "-7"), (Int8(-1), "-1"),
            (UInt64.max, "18446744073709551615"),
            (Int128(5), "5"), (1.0, "1.0"), (2.5, "2.5"), (1e16, "1e%2B16"), (Float(0.1), "0.1"),
            (Decimal(1), "1"),
            (Decimal(string: "12.3400") ?? 0, "12.34"), (Decimal?.some(3), "3"),
        ])
    func scalars(value: any Encodable & Sendable, expected: String) throws {
        #expect(
            try text(
                ClosureEncodable { encoder in
                    var container = encoder.container(keyedBy: AnyKey.self)
                    try container.encode(value, forKey: "k")
                }) == "k=\(expected)")
        #expect(
            try text(
                ClosureEncodable { encoder in
                    var container = encoder.container(keyedBy: AnyKey.self)
                    var list = container.nestedUnkeyedContainer(forKey: "k")
                    try list.encode(value)
                }) == "k%5B%5D=\(expected)")
        #expect(
            try text(
                ClosureEncodable { encoder in
                    var container = encoder.container(keyedBy: AnyKey.self)
                    var single = container.superEncoder(forKey: "k").singleValueContainer()
                    try single.encode(value)
                }) == "k=\(expected)")
    }

    @Test("[E-6.1.13] Booleans are written as words everywhere if the option says so")
    func literalBooleans() throws {
        let literal = URLEncodedFormEncoder(boolEncoding: .literal)
        #expect(try text(["on": true], literal) == "on=true")
        #expect(try text(["on": [true, false]], literal) == "on%5B%5D=false&on%5B%5D=true")
    }

    @Test("[E-6.1.14] the encodings of nil")
    func nils() throws {
        let value: [String: Int?] = ["a": nil]
        func encoded(_ encoding: URLEncodedFormEncoder.NilEncoding) throws -> String {
            try text(value, URLEncodedFormEncoder(nilEncoding: encoding))
        }
        #expect(try encoded(.dropKey) == "")
        #expect(try encoded(.dropValue) == "a=")
        #expect(try encoded(.null) == "a=null")
        #expect(try encoded(.init { "n ü" }) == "a=n%20%C3%BC")
        #expect(try encoded(.init { nil }) == "")
    }

    @Test("[E-6.1.15] the encodings of data")
    func data() throws {
        let value = ["d": Data([0xFB])]
        #expect(try text(value) == "d=%2Bw%3D%3D")
        #expect(try text(["d": Data([0xFF, 0xFF, 0xFF])]) == "d=////")
        #expect(try text(["d": Data([3, 1])], .init(dataEncoding: .deferredToData)) == "d%5B%5D=1&d%5B%5D=3")
        #expect(try text(value, .init(dataEncoding: .custom { "<\($0.count)>" })) == "d=%3C1%3E")
    }

    @Test("[E-6.1.16] the encodings of dates")
    func dates() throws {
        func encoded(_ seconds: Double, _ encoding: URLEncodedFormEncoder.DateEncoding) throws -> String {
            try text(["d": Date(timeIntervalSince1970: seconds)], .init(dateEncoding: encoding))
        }
        #expect(try text(["d": Date(timeIntervalSinceReferenceDate: 5)]) == "d=5.0")
        #expect(try encoded(1.5, .secondsSince1970) == "d=1.5")
        #expect(try encoded(1.5, .millisecondsSince1970) == "d=1500.0")
        #expect(try encoded(0, .iso8601) == "d=1970-01-01T00%3A00%3A00Z")
        #expect(try encoded(0.999, .iso8601) == "d=1970-01-01T00%3A00%3A00Z")
        #expect(try encoded(1_600_000_000, .iso8601) == "d=2020-09-13T12%3A26%3A40Z")
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "UTC")
        formatter.dateFormat = "yyyy/MM/dd"
        #expect(try encoded(0, .formatted(formatter)) == "d=1970/01/01")
        #expect(try encoded(3, .custom { "\(Int($0.timeIntervalSince1970))s" }) == "d=3s")
    }

    @Test("[E-6.1.17] dates, data and decimals in arrays, optionals and single-value containers")
    func everywhere() throws {
        struct Wrapped: Encodable {
            let date: Date
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(date)
            }
        }
        let seconds = URLEncodedFormEncoder(dateEncoding: .secondsSince1970)
        let date = Date(timeIntervalSince1970: 2)
        #expect(try text(["d": [date]], seconds) == "d%5B%5D=2.0")
        #expect(try text(["d": Date?.some(date)], seconds) == "d=2.0")
        #expect(try text(["d": [Date?.some(date)]], seconds) == "d%5B%5D=2.0")
        #expect(try text(["d": Wrapped(date: date)], seconds) == "d=2.0")
        #expect(try text(["d": [Data?.some(Data([1]))]]) == "d%5B%5D=AQ%3D%3D")
        #expect(try text(["d": ["x": Decimal?.some(1)]]) == "d%5Bx%5D=1")
    }

    private struct Refusal: Error {}

    @Test("[E-6.1.18] errors of values and closures are thrown unchanged")
    func errors() {
        #expect(throws: Refusal.self) { try text(["a": ClosureEncodable { _ in throw Refusal() }]) }
        #expect(throws: Refusal.self) {
            try text(["a": Date()], .init(dateEncoding: .custom { _ in throw Refusal() }))
        }
        #expect(throws: Refusal.self) {
            try text(["a": [Data()]], .init(dataEncoding: .custom { _ in throw Refusal() }))
        }
    }
}
