// SPDX-License-Identifier: MIT

import LupineTestKit
import Testing

@testable import LupineHTTP

/// Tests of the conversion of a peer's octets to text. Long runs of combining characters would make the text slow to compare.
@Suite struct OctetTextTests {
    private static func text(_ octets: [UInt8]) -> String { octets.span.text(0..<octets.count) }

    private static func latin1(_ octets: [UInt8]) -> String {
        String(String.UnicodeScalarView(octets.map { Unicode.Scalar($0) }))
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let octets: [UInt8]
        let isUTF8: Bool

        init(_ name: String, _ text: String, isUTF8: Bool = true) {
            testDescription = name
            octets = Array(text.utf8)
            self.isUTF8 = isUTF8
        }
    }

    private static func marks(_ mark: Unicode.Scalar, _ count: Int) -> String {
        String(String.UnicodeScalarView(repeatElement(mark, count: count)))
    }

    static let rows = [
        Row("no octets", ""), Row("ASCII", "text/html"), Row("letters", "Größe, 大きさ, 𝄞"),
        Row("a letter with a mark", "e\u{301}"),
        Row("thirty marks", "x" + marks("\u{301}", 30)),
        Row("thirty marks twice", "x" + marks("\u{301}", 30) + "x" + marks("\u{323}", 30)),
        Row("thirty-one marks", "x" + marks("\u{301}", 31), isUTF8: false),
        Row("marks of two classes", "x" + marks("\u{301}", 16) + marks("\u{323}", 16), isUTF8: false),
        Row("marks alone", marks("\u{5B0}", 31), isUTF8: false),
        Row("marks at the end", String(repeating: "ä", count: 999) + marks("\u{301}", 31), isUTF8: false),
        Row("as many marks as a line holds", "x" + marks("\u{301}", 32_000), isUTF8: false),
    ]

    @Test(
        "[U-2.2] octets are UTF-8 with no more than 30 combining characters in a row, or Latin-1",
        arguments: rows)
    func texts(_ row: Row) {
        let text = Self.text(row.octets)
        #expect(
            text.unicodeScalars.elementsEqual(
                (row.isUTF8 ? String(decoding: row.octets, as: UTF8.self) : Self.latin1(row.octets))
                    .unicodeScalars))
        #expect(text.isStreamSafe)
        #expect(String(decoding: row.octets, as: UTF8.self).isStreamSafe == row.isUTF8)
    }

    @Test("[U-2.2] octets that are not UTF-8 are Latin-1")
    func octetsThatAreNotUTF8() {
        for octets in [[0xFF], [0x61, 0xE9], [0xCC], [0xC0, 0x80], [0xED, 0xA0, 0x80]] as [[UInt8]] {
            #expect(Self.text(octets) == Self.latin1(octets))
        }
    }

    @Test("[U-2.2] marks in quoted pairs do not join into a long run when the pairs are decoded")
    func quotedPairs() {
        let value = "\"x" + String(repeating: "\\\u{301}", count: 1_000) + "\""
        let octets = Array("a;b=\(value)".utf8)
        var found: String?
        ListSyntax.forEachParameter(of: 0..<octets.count, in: octets.span) { _, value in found = value }
        #expect(found?.utf8.count ?? 0 > 2_000 && found?.isStreamSafe == true)
    }

    @Test("append copies any range of a span to the end of an array")
    func appending() {
        let octets = (0..<100).map { UInt8($0) }
        for count in 0...40 {
            for start in [0, 1, 60] {
                for initial in [[], [7, 8, 9]] as [[UInt8]] {
                    var output = initial
                    output.append(octets.span, start..<start + count)
                    #expect(output == initial + octets[start..<start + count])
                }
            }
        }
    }
}
