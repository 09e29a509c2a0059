// SPDX-License-Identifier: MIT

import Testing

@testable import LupineHTTP2

/// Compares the static table and the Huffman code with other facts from RFC 7541: its examples, the order of the names, and the
/// number of codes of each length.
@Suite struct StaticTableTests {
    /// The names in the order of Appendix A, each once, with the number of its entries.
    static let names = """
        :authority:1 :method:2 :path:2 :scheme:2 :status:7 accept-charset:1 accept-encoding:1 accept-language:1
        accept-ranges:1 accept:1 access-control-allow-origin:1 age:1 allow:1 authorization:1 cache-control:1
        content-disposition:1 content-encoding:1 content-language:1 content-length:1 content-location:1
        content-range:1 content-type:1 cookie:1 date:1 etag:1 expect:1 expires:1 from:1 host:1 if-match:1
        if-modified-since:1 if-none-match:1 if-range:1 if-unmodified-since:1 last-modified:1 link:1 location:1
        max-forwards:1 proxy-authenticate:1 proxy-authorization:1 range:1 referer:1 refresh:1 retry-after:1
        server:1 set-cookie:1 strict-transport-security:1 transfer-encoding:1 user-agent:1 vary:1 via:1
        www-authenticate:1
        """.split { $0 == " " || $0 == "\n" }.flatMap { word -> [String] in
            let name = String(word.dropLast(2))
            return [String](repeating: name, count: word.last?.wholeNumberValue ?? 0)
        }

    /// The entries whose values are not empty, by index.
    static let values: [Int: String] = [
        2: "GET", 3: "POST", 4: "/", 5: "/index.html", 6: "http", 7: "https", 8: "200", 9: "204", 10: "206",
        11: "304", 12: "400", 13: "404", 14: "500", 16: "gzip, deflate",
    ]

    /// Indices that are well known: from the examples of Appendix C, and as the first octets of many captures.
    static let wellKnown: [(octet: UInt8, field: String)] = [
        (0x82, ":method: GET"), (0x83, ":method: POST"), (0x84, ":path: /"), (0x86, ":scheme: http"),
        (0x87, ":scheme: https"), (0x88, ":status: 200"), (0x8B, ":status: 304"), (0x8D, ":status: 404"),
        (0x90, "accept-encoding: gzip, deflate"),
    ]

    /// The names of well-known entries, by the first octet of a literal with incremental indexing.
    static let wellKnownNames: [(octet: UInt8, name: String)] = [
        (0x41, ":authority"), (0x48, ":status"), (0x53, "accept"), (0x58, "cache-control"),
        (0x5A, "content-encoding"), (0x5C, "content-length"), (0x5F, "content-type"), (0x60, "cookie"),
        (0x61, "date"), (0x62, "etag"), (0x6E, "location"), (0x73, "referer"), (0x76, "server"),
        (0x77, "set-cookie"), (0x7A, "user-agent"), (0x7B, "vary"), (0x7C, "via"),
    ]

    static func decoded(_ block: [UInt8]) throws(HPACKError) -> String {
        var decoder = HPACKDecoder()
        let list = try decoder.decode(block.span)
        return list.indices.map { position in
            Octets.text(list.octets[list.nameRange(at: position)]) + ": "
                + Octets.text(list.octets[list.valueRange(at: position)])
        }.joined(separator: "\n")
    }

    @Test("[H-10.1] the static table's entries, in their order") func entries() throws {
        #expect(Self.names.count == 61)
        for index in 1...61 {
            let expected = Self.names[index - 1] + ": " + (Self.values[index] ?? "")
            #expect(try Self.decoded([0x80 | UInt8(index)]) == expected)
        }
        #expect(throws: HPACKError.invalidIndex(62)) { try Self.decoded([0x80 | 62]) }
        #expect(throws: HPACKError.invalidIndex(0)) { try Self.decoded([0x80]) }
    }

    @Test("[H-10.1] well-known indices") func wellKnownIndices() throws {
        for row in Self.wellKnown { #expect(try Self.decoded([row.octet]) == row.field) }
        for row in Self.wellKnownNames {
            #expect(try Self.decoded([row.octet, 1, 0x78]) == row.name + ": x")
        }
    }

    /// Checks that Appendix A is sorted by name. The one exception is `accept`, which comes after the names that begin with it.
    @Test func theNamesAreSorted() {
        let entries = StaticTable.entries.map { Octets.text($0.octets[$0.nameRange]) }
        #expect(entries.indices.dropFirst().filter { entries[$0] < entries[$0 - 1] } == [18])
        #expect(entries[18] == "accept")
    }

    /// Checks how many codes of each length Appendix B has, and the symbols of the shortest ones.
    @Test("[H-10.2] the lengths of the Huffman code") func lengths() {
        let counts: [UInt8: Int] = [
            5: 10, 6: 26, 7: 32, 8: 6, 10: 5, 11: 3, 12: 2, 13: 6, 14: 2, 15: 3, 19: 3, 20: 8, 21: 13, 22: 26,
            23: 29, 24: 12, 25: 4, 26: 15, 27: 19, 28: 29, 30: 4,
        ]
        let own = Dictionary(grouping: HuffmanCode.lengths) { $0 }.mapValues(\.count)
        #expect(own == counts)
        func symbols(_ length: UInt8) -> String {
            Octets.text((0..<256).filter { HuffmanCode.lengths[$0] == length }.map { UInt8($0) })
        }
        #expect(symbols(5) == "012aceiost")
        #expect(symbols(6) == " %-./3456789=A_bdfghlmnpru")
        #expect(symbols(7) == ":BCDEFGHIJKLMNOPQRSTUVWYjkqvwxyz")
        #expect(symbols(8) == "&*,;XZ")
        // Kraft's sum is one: every sequence of bits has exactly one meaning.
        #expect(counts.reduce(0) { $0 + $1.value << (30 - Int($1.key)) } == 1 << 30)
    }

    /// Checks that no printed code is the prefix of another.
    @Test func thePrintedCodeIsPrefixFree() {
        let codes = HuffmanTests.printed.map { word -> (code: UInt64, length: Int) in
            let parts = word.split(separator: ":")
            return (UInt64(parts[0], radix: 16) ?? 0, Int(parts[1]) ?? 0)
        }
        let sorted = codes.map { ($0.code << UInt64(30 - $0.length), $0.length) }.sorted { $0.0 < $1.0 }
        for (code, next) in zip(sorted, sorted.dropFirst()) {
            // The codes fill the space without gaps or overlaps.
            #expect(code.0 + 1 << UInt64(30 - code.1) == next.0)
        }
        #expect(sorted.first?.0 == 0)
    }
}
