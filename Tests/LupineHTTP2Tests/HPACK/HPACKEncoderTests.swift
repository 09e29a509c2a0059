// SPDX-License-Identifier: MIT

import Testing

@testable import LupineHTTP2

/// Tests of the encoder's choice of representations, and of its announcements of table sizes.
@Suite struct HPACKEncoderTests {
    static func block(_ encoder: inout HPACKEncoder, _ fields: (String, String)...) -> [UInt8] {
        var list = HeaderList()
        for (name, value) in fields { list.append(name, value) }
        var block: [UInt8] = []
        encoder.encode(list, into: &block)
        return block
    }

    static let cookie19 = String(repeating: "c", count: HPACKEncoder.shortCookieOctets - 1)
    static let cookie20 = String(repeating: "c", count: HPACKEncoder.shortCookieOctets)

    /// Fields, and whether they are sent as never-indexed literals.
    static let secrets: [(name: String, value: String, isSecret: Bool)] = [
        ("authorization", "Basic dXNlcjpwYXNzd29yZCBvZiBzb21lIGxlbmd0aA==", true),
        ("authorization", "", true),
        ("proxy-authorization", "Basic abc", true),
        ("cookie", cookie19, true), ("cookie", cookie20, false),
        ("set-cookie", cookie19, true), ("set-cookie", cookie20, false),
        ("cookies", "a", false), ("authorizatiom", "a", false), ("x", "a", false),
    ]

    @Test("[H-10.9] sensitive fields are never indexed", arguments: secrets) func sensitiveFields(
        _ name: String, _ value: String, _ isSecret: Bool
    ) {
        var encoder = HPACKEncoder()
        for _ in 0..<2 {
            let first = Self.block(&encoder, (name, value)).first ?? 0
            #expect((first & 0xF0 == 0x10) == isSecret)
        }
        #expect(encoder.tableEntryCount == (isSecret ? 0 : 1))
    }

    @Test func aRepeatedFieldIsSentAsAnIndex() {
        var encoder = HPACKEncoder()
        #expect(Self.block(&encoder, ("a", "b"), ("c", "d")).count > 2)
        #expect(Self.block(&encoder, ("a", "b"), ("c", "d"), ("a", "b")) == [0xBF, 0xBE, 0xBF])
    }

    @Test func aNameOfTheDynamicTableIsReused() {
        var encoder = HPACKEncoder()
        encoder.usesHuffman = false
        _ = Self.block(&encoder, ("abc", "1"))
        #expect(Self.block(&encoder, ("abc", "2")) == [0x7E, 1, 0x32])
    }

    @Test func anEntryThatWouldFillTheTableIsNotIndexed() {
        var encoder = HPACKEncoder(tableSize: 100, usesHuffman: false)
        _ = Self.block(&encoder, ("a", String(repeating: "b", count: 42)))
        #expect(encoder.tableSize == 75)
        #expect(Self.block(&encoder, ("a", String(repeating: "b", count: 43)))[0] == 0x0F)
        #expect(encoder.tableSize == 75)
    }

    /// The sizes that a peer sets, and the size updates at the start of the next block.
    static let updates: [(own: Int, sizes: [Int], block: String)] = [
        (4_096, [], "82"), (4_096, [4_096], "82"), (4_096, [8_192], "82"), (4_096, [100], "3f 45 82"),
        (4_096, [0], "20 82"), (4_096, [100, 4_096], "3f 45 3f e1 1f 82"),
        (4_096, [100, 0, 100], "20 3f 45 82"),
        (4_096, [100, 50], "3f 13 82"), (65_536, [8_192], "3f e1 3f 82"), (100, [], "3f 45 82"),
        (100, [8_192], "3f 45 82"), (0, [50], "20 82"), (4_096, [-1], "20 82"),
    ]

    @Test("[H-10.8] size updates", arguments: updates)
    func sizeUpdates(_ own: Int, _ sizes: [Int], _ expected: String) {
        var encoder = HPACKEncoder(tableSizeLimit: own)
        for size in sizes { encoder.setTableSizeLimit(size) }
        #expect(Self.block(&encoder, (":method", "GET")) == Octets.hex(expected))
        #expect(Self.block(&encoder, (":method", "GET")) == [0x82])
    }

    @Test func evictedEntriesAreNotReferenced() throws {
        var encoder = HPACKEncoder(tableSize: 100, usesHuffman: false)
        var decoder = HPACKDecoder(tableSize: 100)
        for round in 0..<200 {
            let value = "v\(round % 7)"
            let block = Self.block(&encoder, ("a", value), ("b", value))
            #expect(try Lists.lines(decoder.decode(block.span)) == ["a: \(value)", "b: \(value)"])
            #expect(encoder.tableSize == decoder.tableSize)
        }
    }

    @Test func huffmanIsUsedOnlyIfItIsNotLonger() {
        var encoder = HPACKEncoder()
        // `~` takes 13 bits.
        #expect(Self.block(&encoder, (":path", "~~")).dropFirst() == [2, 0x7E, 0x7E])
        #expect(Self.block(&encoder, (":path", "aa")).dropFirst() == [0x82, 0x18, 0xFF])
        #expect(Self.block(&encoder, (":path", "")).dropFirst() == [0])
    }

    /// Lengths whose integer has one octet and two, for codes of 5 and of 13 bits.
    @Test(arguments: [1, 125, 126, 127, 128, 203, 204, 205, 300], ["a", "~"])
    func stringLengths(_ count: Int, _ letter: String) throws {
        var encoder = HPACKEncoder()
        var decoder = HPACKDecoder()
        let value = String(repeating: letter, count: count)
        let block = Self.block(&encoder, (":path", value))
        #expect(try Lists.lines(decoder.decode(block.span)) == [":path: \(value)"])
        let coded = letter == "a" ? (count * 5 + 7) / 8 : count
        #expect(block.count == 1 + (coded < 127 ? 1 : coded < 255 ? 2 : 3) + coded)
        #expect(block[1] & 0x80 == (letter == "a" ? 0x80 : 0))
    }
}
