// SPDX-License-Identifier: MIT

import LupineHTTP2
import LupineTestKit
import Testing

/// Header lists that one of this library's codecs encodes and nghttp2 decodes, and the other way round: 20 connections of 250
/// lists each way. A failure names the seed and the list.
@Suite struct HPACKDifferentialTests {
    @Test("[H-10.3] what this end encodes nghttp2 reads as the same list", arguments: 0..<20 as Range<UInt64>)
    func encoded(_ seed: UInt64) throws {
        var lists = RandomLists(seed: seed)
        var encoder = HPACKEncoder(tableSizeLimit: [4_096, 0, 100, 65_536][Int(seed % 4)])
        encoder.usesHuffman = seed % 3 != 0
        let inflater = NGHTTP2Inflater()
        for number in 0..<250 {
            for size in lists.sizes() {
                try inflater.setTableSize(size)
                encoder.setTableSizeLimit(size)
            }
            let fields = lists.next()
            var block: [UInt8] = []
            encoder.encode(PackedFields.list(fields), into: &block)
            let decoded = try inflater.decode(block)
            try #require(decoded == fields.map(\.withSecrecy), "list \(number)")
            #expect(encoder.tableSize == inflater.tableSize, "list \(number)")
        }
    }

    @Test(
        "[H-10.10] what nghttp2 encodes this end reads as the same list", arguments: 0..<20 as Range<UInt64>)
    func decoded(_ seed: UInt64) throws {
        var lists = RandomLists(seed: seed)
        var decoder = HPACKDecoder()
        let deflater = NGHTTP2Deflater(largest: [4_096, 0, 100, 65_536][Int(seed % 4)])
        for number in 0..<250 {
            for size in lists.sizes() {
                try deflater.setTableSize(size)
                decoder.setTableSizeLimit(size)
            }
            let fields = lists.next()
            let block = try deflater.encode(fields)
            let decoded = try decoder.decode(block.span)
            // nghttp2 has its own rules of what is sensitive, besides the flags that it is given.
            let list = PackedFields.fields(decoded)
            try #require(list.map(\.withoutFlag) == fields.map(\.withoutFlag), "list \(number)")
            for (sent, came) in zip(fields, list) where sent.isSensitive {
                #expect(came.isSensitive, "list \(number): \(sent)")
            }
            #expect(decoder.tableSize == deflater.tableSize, "list \(number)")
        }
    }
}

extension PackedFields.Field {
    /// The field as `HPACKEncoder` sends it: credentials and short cookies are sensitive whatever their list says.
    fileprivate var withSecrecy: Self {
        var field = self
        switch String(decoding: name, as: UTF8.self) {
        case "authorization", "proxy-authorization": field.isSensitive = true
        case "cookie", "set-cookie":
            field.isSensitive = isSensitive || value.count < HPACKEncoder.shortCookieOctets
        default: break
        }
        return field
    }

    fileprivate var withoutFlag: Self { Self(name: name, value: value) }
}

/// Header lists, the same for each seed, and the table sizes that are set in between.
struct RandomLists {
    private var random: SeededRandom
    private static let names = [
        ":method", ":path", ":status", ":authority", ":scheme", "accept", "cookie", "set-cookie",
        "authorization", "proxy-authorization", "content-type", "content-length", "x-request-id", "x-a",
        "x-b",
        "etag", "date", "location", "user-agent", "x",
    ]
    private static let texts = [
        "", "GET", "POST", "/", "/index.html", "200", "404", "https", "text/html; charset=utf-8", "no-cache",
        "gzip, deflate", "Mon, 21 Oct 2013 20:13:21 GMT", "https://www.example.com",
        "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1",
    ]

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    /// Returns the values that SETTINGS_HEADER_TABLE_SIZE takes before the next list: mostly none, sometimes several.
    mutating func sizes() -> [Int] {
        guard random.next() % 8 == 0 else { return [] }
        return (0...Int(random.next() % 3)).map { _ in
            [0, 31, 32, 33, 60, 100, 500, 4_096, 20_000, 65_536][Int(random.next() % 10)]
        }
    }

    mutating func next() -> [PackedFields.Field] {
        var fields: [PackedFields.Field] = []
        for _ in 0..<Int(random.next() % 14) {
            if let last = fields.randomElement(using: &random), random.next() % 8 == 0 {
                fields.append(last)
                continue
            }
            let name =
                random.next() % 16 == 0
                ? (0..<Int(random.next() % 40)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
                : Array((Self.names.randomElement(using: &random) ?? "x").utf8)
            fields.append(
                PackedFields.Field(name: name, value: value(), isSensitive: random.next() % 8 == 0))
        }
        return fields
    }

    private mutating func value() -> [UInt8] {
        switch random.next() % 16 {
        case 0: return (0..<Int(random.next() % 60)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        case 1: return [UInt8](repeating: 0x61, count: Int(random.next() % 600))
        // More than a table holds, and octets whose codes are the longest.
        case 2 where random.next() % 8 == 0:
            return (0..<Int(random.next() % 30_000)).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        case 3...7: return Array("v\(random.next() % 40)".utf8)
        default: return Array((Self.texts.randomElement(using: &random) ?? "").utf8)
        }
    }
}
