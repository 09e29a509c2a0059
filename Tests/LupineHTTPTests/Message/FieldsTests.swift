// SPDX-License-Identifier: MIT

import LupineTestKit
import Testing

@testable import LupineHTTP

@Suite struct FieldsTests {
    typealias Line = (name: String, value: String)

    static func fields(_ lines: Line...) throws -> Fields {
        var fields = Fields()
        for line in lines { try fields.append(FieldName(line.name), line.value) }
        return fields
    }

    /// Returns the fields that a parser reads from a response head with the lines `text`.
    static func parsed(_ text: String, leniency: Leniency = .client) throws -> Fields {
        var parser = HeadParser(.response, limits: ParserLimits(), leniency: leniency)
        let bytes = Array("HTTP/1.1 200 OK\r\n\(text)\r\n".utf8)
        let end = try parser.scan(bytes.span)
        #expect(end == bytes.count)
        return parser.extractHead(from: bytes.span).fields
    }

    static func lines(_ fields: Fields) -> [String] {
        (0..<fields.count).map { "\(fields.name(at: $0))=\(fields.value(at: $0))" }
    }

    static func encoded(_ fields: Fields) -> String {
        var output: [UInt8] = []
        fields.encode(into: &output)
        return output.span.text(0..<output.count)
    }

    @Test func anEmptyListHoldsNothing() throws {
        var fields = Fields()
        #expect(fields.isEmpty)
        #expect(fields[.host] == nil)
        #expect(fields.indices(of: .host) == [])
        fields.remove(.host)
        #expect(fields == Fields())
        #expect(Self.encoded(fields) == "")
    }

    @Test(
        "the lines of a parsed list are in wire form, however they were received",
        arguments: [
            ("", ""), ("A: b\r\nC: d\r\n", "A: b\r\nC: d\r\n"), ("A: b\r\nC:\r\n", "A: b\r\nC: \r\n"),
            ("A:b\r\n", "A: b\r\n"), ("A:  b\r\nC: d \r\n", "A: b\r\nC: d\r\n"), ("A: b\n", "A: b\r\n"),
            ("A: b\r\n c\r\nD: e\r\n", "A: b c\r\nD: e\r\n"),
        ])
    func lines(_ received: String, _ lines: String) throws {
        let fields = try Self.parsed(received)
        #expect(Self.encoded(fields) == lines)
        // What is read from the lines is the same list.
        let read = try #require(Fields(lines: fields.lines))
        #expect(read == fields && Self.encoded(read) == lines)
    }

    @Test("octets that are not lines are refused, cut at any octet")
    func linesOfOthers() throws {
        let lines = Array("A: b\r\nCc: dd\r\n".utf8)
        for count in 0..<lines.count {
            let read = Fields(lines: lines[..<count])
            #expect((read != nil) == (count == 0 || count == 6), "\(count)")
        }
        let others = [
            "A: b\r\n\r\n", "\r\n", "A: b\r\n\r\nC: d\r\n", "A b\r\n", "A: \u{1}\r\n", " A: b\r\n",
            "A : b\r\n",
        ]
        for text in others {
            #expect(Fields(lines: Array(text.utf8)[...]) == nil, "\(text.debugDescription)")
        }
    }

    @Test func appendKeepsOrderSpellingAndDuplicates() throws {
        let fields = try Self.fields(("B", "1"), ("a", "2"), ("b", "3"))
        #expect(Self.lines(fields) == ["B=1", "a=2", "b=3"])
        #expect(fields.values(of: try FieldName("b")) == ["1", "3"])
        #expect(fields[try FieldName("b")] == "1")
        #expect(fields.firstIndex(of: try FieldName("B"), from: 1) == 2)
        #expect(fields.firstIndex(of: try FieldName("B"), from: 3) == nil)
        #expect(fields.firstIndex(of: try FieldName("B"), from: 30) == nil)
    }

    @Test func appendTrimsValues() throws {
        #expect(Self.lines(try Self.fields(("a", " \t b c\t "))) == ["a=b c"])
        #expect(Self.lines(try Self.fields(("a", "  "))) == ["a="])
    }

    @Test(arguments: [UInt8(0), 1, 8, 0x0A, 0x0B, 0x0D, 0x1F, 0x7F])
    func appendRefusesControlCharacters(_ octet: UInt8) throws {
        var fields = try Self.fields(("kept", "1"))
        for position in [0, 1, 7, 8, 9, 16] {
            var value = [UInt8](repeating: 0x61, count: 17)
            value[position] = octet
            #expect(throws: HTTPError.invalidValueToSend(name: Excerpt("X"), octet: octet)) {
                try fields.append(FieldName("X"), value.span)
            }
        }
        #expect(Self.lines(fields) == ["kept=1"])
    }

    @Test func everyOtherOctetIsAllowedInAValue() throws {
        let value = (0...255).map(UInt8.init).filter { $0 == 9 || ($0 >= 0x20 && $0 != 0x7F) }
        var fields = Fields()
        try fields.append(FieldName("x"), ([0x61] + value + [0x61]).span)
        let kept = fields.withValue(at: 0) { bytes in bytes.indices.map { bytes[$0] } }
        #expect(kept == [0x61] + value + [0x61])
    }

    @Test func setReplacesTheFirstAndRemovesTheOthers() throws {
        var fields = try Self.fields(("a", "1"), ("b", "2"), ("A", "3"), ("c", "4"), ("a", "5"))
        try fields.set(FieldName("A"), "new")
        #expect(Self.lines(fields) == ["A=new", "b=2", "c=4"])
        try fields.set(FieldName("d"), "6")
        #expect(Self.lines(fields) == ["A=new", "b=2", "c=4", "d=6"])
        #expect(throws: HTTPError.self) { try fields.set(FieldName("b"), "x\r\ny") }
        #expect(Self.lines(fields) == ["A=new", "b=2", "c=4", "d=6"])
    }

    @Test func removeRemovesEveryFieldOfAName() throws {
        var fields = try Self.fields(("a", "1"), ("b", "2"), ("A", "3"))
        fields.remove(try FieldName("a"))
        #expect(Self.lines(fields) == ["b=2"])
        fields.remove(try FieldName("a"))
        #expect(Self.lines(fields) == ["b=2"])
    }

    @Test func appendContentsKeepsBothOrders() throws {
        var fields = try Self.fields(("a", "1"))
        fields.append(contentsOf: try Self.parsed("b:2\r\nA: 3\r\n"))
        fields.append(contentsOf: fields)
        #expect(Self.lines(fields) == ["a=1", "b=2", "A=3", "a=1", "b=2", "A=3"])
    }

    @Test func copiesAreIndependent() throws {
        let one = try Self.parsed("a: 1\r\n")
        var other = one
        try other.append(FieldName("b"), "2")
        #expect(Self.lines(one) == ["a=1"])
        #expect(Self.lines(other) == ["a=1", "b=2"])
    }

    @Test func equalityAndHash() throws {
        let classes: [[Fields]] = [
            [Fields(), try Self.parsed("")],
            [
                try Self.fields(("a", "1"), ("b", "2")), try Self.fields(("A", "1"), ("B", " 2 ")),
                try Self.parsed("a: 1\r\nb: 2\r\n"), try Self.parsed("a:1\nB:\t2 \n"),
                try Self.parsed("a:\r\n 1\r\nb: 2\r\n"),
            ],
            [try Self.fields(("b", "2"), ("a", "1"))],
            [try Self.fields(("a", "1"))],
            [try Self.fields(("a", "1"), ("a", "1"))],
            [try Self.fields(("a", "1"), ("b", "3"))],
            [try Self.fields(("a", "1b"), ("c", "2"))],
            [try Self.fields(("x", "A"))], [try Self.fields(("x", "a"))],
        ]
        #expect(HashableLaws.violations(classes) == [])
    }

    @Test(arguments: [
        ("a: 1\r\nb: 2\r\n", "a: 1\r\nb: 2\r\n"), ("A:1\r\n", "A: 1\r\n"), ("a:  1 \t\r\n", "a: 1\r\n"),
        ("a:\r\n", "a: \r\n"), ("a: 1\n", "a: 1\r\n"), ("a: 1\r\n  2\r\nb: 3\r\n", "a: 1 2\r\nb: 3\r\n"),
        ("a: 1\r\nb: 2\r\n 3\r\n\t4\r\n", "a: 1\r\nb: 2 3 4\r\n"),
    ])
    func parsedFieldsAreEncodedInCanonicalForm(_ wire: String, _ canonical: String) throws {
        let fields = try Self.parsed(wire)
        #expect(Self.encoded(fields) == canonical)
        #expect(try Self.parsed(canonical) == fields)
    }

    @Test func aParsedListCanBeChanged() throws {
        var fields = try Self.parsed("a: 1\r\nb:2\r\n 3\r\na: 4\r\n")
        try fields.append(FieldName("c"), "5")
        #expect(Self.encoded(fields) == "a: 1\r\nb: 2 3\r\na: 4\r\nc: 5\r\n")
        try fields.set(FieldName("a"), "6")
        #expect(Self.encoded(fields) == "a: 6\r\nb: 2 3\r\nc: 5\r\n")
        fields.remove(try FieldName("b"))
        #expect(Self.encoded(fields) == "a: 6\r\nc: 5\r\n")
        #expect(fields[try FieldName("C")] == "5")
    }

    @Test func aParsedListCanBeChangedWithoutAnAppendBefore() throws {
        var one = try Self.parsed("a: 1\r\nb: 2\r\n")
        try one.set(FieldName("b"), "3")
        #expect(Self.encoded(one) == "a: 1\r\nb: 3\r\n")
        var other = try Self.parsed("a: 1\r\nb: 2\r\n")
        other.remove(try FieldName("a"))
        #expect(Self.encoded(other) == "b: 2\r\n")
    }

    @Test func valuesAreUTF8OrLatin1() throws {
        var fields = Fields()
        try fields.append(FieldName("a"), "grün")
        try fields.append(FieldName("b"), ([0x67, 0xFC, 0x6E] as [UInt8]).span)
        #expect(fields.value(at: 0) == "grün")
        #expect(fields.value(at: 1) == "gün")
    }

    @Test func namesWithEqualTagsAreDistinguished() throws {
        // Both names have the same tag: the same length, the same first and the same last letter.
        let fields = try Self.fields(("content-lengxh", "1"), ("Content-Length", "2"))
        #expect(FieldName.contentLength.tag == (try FieldName("content-lengxh")).tag)
        #expect(fields[.contentLength] == "2")
        #expect(fields.values(of: .contentLength) == ["2"])
    }

    @Test func theDescriptionShowsNoValues() throws {
        #expect(try Self.fields(("Cookie", "secret"), ("b", "c")).description == "[Cookie, b]")
    }

    @Test func theLongestName() throws {
        let longest = String(repeating: "n", count: 65_535)
        var limits = ParserLimits()
        limits.lineBytes = 70_000
        var parser = HeadParser(.response, limits: limits, leniency: .strict)
        let bytes = Array("HTTP/1.1 200 OK\r\n\(longest): v\r\n\r\n".utf8)
        #expect(try parser.scan(bytes.span) == bytes.count)
        let fields = parser.extractHead(from: bytes.span).fields
        #expect(fields[try FieldName(longest)] == "v")
        #expect(Self.encoded(fields) == "\(longest): v\r\n")

        parser = HeadParser(.response, limits: limits, leniency: .strict)
        let tooLong = Array("HTTP/1.1 200 OK\r\n\(longest)n: v\r\n\r\n".utf8)
        #expect(throws: HTTPError.limitExceeded(.lineBytes, allowed: 65_535)) {
            _ = try parser.scan(tooLong.span)
        }
        #expect(throws: HTTPError.self) { try FieldName(longest + "n") }
    }

    @Test func theDefaultLimits() throws {
        let limits = ParserLimits()
        #expect(limits.headBytes == 256 * 1024)
        #expect(limits.fieldCount == 1_000)
        #expect(limits.lineBytes == 64 * 1024)
        #expect(limits.interimHeads == 32)
        #expect(limits.chunkExtensionBytes == 4 * 1024)
        let thousand = (0..<1_000).map { "n\($0): \($0)\r\n" }.joined()
        #expect(try Self.parsed(thousand).count == 1_000)
        #expect(throws: HTTPError.limitExceeded(.fieldCount, allowed: 1_000)) {
            try Self.parsed(thousand + "x: y\r\n")
        }
    }
}

@Suite struct FieldNameTests {
    @Test(arguments: ["", "a b", "a:", "ä", "a\r\nb", "a\0", "(", "a\"", "{a}", " a", "a\t"])
    func malformedNamesAreRefused(_ name: String) {
        #expect(throws: HTTPError.invalidNameToSend(Excerpt(name))) { try FieldName(name) }
    }

    @Test func everyTokenOctetIsAccepted() throws {
        let token = "!#$%&'*+-.^_`|~0123456789abcxyzABCXYZ"
        #expect(try FieldName(token).description == token)
    }

    @Test func equalInAnyMixOfCases() throws {
        let classes = [
            [try FieldName("Content-Type"), try FieldName("content-TYPE"), .contentType],
            [try FieldName("content-tipe")], [try FieldName("content-typ")], [try FieldName("a^b")],
            [try FieldName("a~b")], [try FieldName("x")], [try FieldName("X-y"), try FieldName("x-Y")],
        ]
        #expect(HashableLaws.violations(classes) == [])
    }
}
