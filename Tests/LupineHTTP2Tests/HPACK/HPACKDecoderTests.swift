// SPDX-License-Identifier: MIT

import Testing

@testable import LupineHTTP2

/// Tests of the blocks that the decoder refuses, and of the errors after which it can continue.
@Suite struct HPACKDecoderTests {
    struct Row: CustomTestStringConvertible {
        let title: String
        var tableSizeLimits: [Int] = []
        var limits = HPACKLimits()
        let block: [UInt8]
        /// The error, or nil if the block is legal.
        let expected: HPACKError?
        var testDescription: String { title }

        init(
            _ title: String, tableSizeLimits: [Int] = [], limits: HPACKLimits = HPACKLimits(),
            _ block: [UInt8],
            _ expected: HPACKError?
        ) {
            self.title = title
            self.tableSizeLimits = tableSizeLimits
            self.limits = limits
            self.block = block
            self.expected = expected
        }

        init(_ title: String, tableSizeLimits: [Int] = [], _ block: String, _ expected: HPACKError?) {
            self.init(title, tableSizeLimits: tableSizeLimits, Octets.hex(block), expected)
        }
    }

    static let indices: [Row] = [
        Row("[H-10.11] index 0", "80", .invalidIndex(0)),
        Row("the last static entry", "bd", nil),
        Row("[H-10.11] the first dynamic entry of an empty table", "be", .invalidIndex(62)),
        Row("the first dynamic entry", "4001 6101 62 be", nil),
        Row("[H-10.11] one after the last dynamic entry", "4001 6101 62 bf", .invalidIndex(63)),
        Row("the largest index", "ff 80 ff ff ff 07", .invalidIndex(2_147_483_647)),
        Row("an index that overflows", "ff 81 ff ff ff 07", .integerOverflow),
        Row("a name of the first dynamic entry, too early", "7e 01 61", .invalidIndex(62)),
        Row("a name that no table has, without indexing", "0f 70 01 61", .invalidIndex(127)),
        Row("a name that no table has, never indexed", "1f 2f 01 61", .invalidIndex(62)),
    ]

    static let strings: [Row] = [
        Row("a missing name", "40", .truncated),
        Row("a name longer than the block", "40 02 61", .truncated),
        Row("a missing value", "40 01 61", .truncated),
        Row("a value longer than the block", "40 01 61 02 61", .truncated),
        Row("a length of 2^31-1", "40 7f 80 ff ff ff 07", .truncated),
        Row("a length that overflows", "40 7f 81 ff ff ff 07", .integerOverflow),
        Row("an empty name and an empty value", "40 00 00", nil),
        Row("an empty Huffman-coded value", "40 01 61 80", nil),
        Row("[H-10.7] EOS in a name", "40 84 ff ff ff ff 00", .endOfStringInText),
        Row("[H-10.7] eight bits of padding", "40 01 61 81 ff", .paddingTooLong),
        Row("[H-10.7] padding of zeros", "40 01 61 81 18", .paddingNotOnes),
    ]

    static let updates: [Row] = [
        Row("a size update in front of a field", "20 82", nil),
        Row("two size updates", "20 3f e1 1f 82", nil),
        Row("only a size update", "3f e1 1f", nil),
        Row("[H-10.8] a size update after a field", "82 20", .misplacedSizeUpdate),
        Row("a size update between fields", "82 20 82", .misplacedSizeUpdate),
        Row(
            "[H-10.8] one octet more than the initial size", "3f e2 1f",
            .sizeUpdateTooLarge(4_097, allowed: 4_096)),
        Row("a size that overflows", "3f ff ff ff ff ff 07", .integerOverflow),
        Row("a truncated size", "3f", .truncated),
        Row("the size that a setting allows", tableSizeLimits: [8_192], "3f e1 3f", nil),
        Row(
            "more than a setting allows", tableSizeLimits: [8_192], "3f e2 3f",
            .sizeUpdateTooLarge(8_193, allowed: 8_192)),
        Row("a larger table need not be used", tableSizeLimits: [8_192], "82", nil),
        Row(
            "[H-10.8] a reduction that the block does not announce", tableSizeLimits: [100], "82",
            .missingSizeUpdate(allowed: 100)),
        Row("a reduction that the block announces", tableSizeLimits: [100], "3f 45 82", nil),
        Row("a reduction to less than the setting", tableSizeLimits: [100], "20 82", nil),
        Row(
            "a reduction to more than the setting", tableSizeLimits: [100], "3f 46 82",
            .sizeUpdateTooLarge(101, allowed: 100)),
        Row(
            "[H-10.8] the smallest size in between is announced", tableSizeLimits: [100, 4_096],
            "3f 45 3f e1 1f 82", nil),
        Row(
            "[H-10.8] the smallest size in between is not announced", tableSizeLimits: [100, 4_096],
            "3f e1 1f 82", .missingSizeUpdate(allowed: 100)),
        Row("an empty block after a reduction", tableSizeLimits: [0], "", .missingSizeUpdate(allowed: 0)),
        Row(
            "a table of size zero holds no entry", tableSizeLimits: [0], "20 4001 6101 62 be",
            .invalidIndex(62)),
    ]

    static let limits: [Row] = {
        var fieldLimit = HPACKLimits()
        fieldLimit.fieldCount = 2
        var small = HPACKLimits()
        small.listOctets = 100
        var short = HPACKLimits()
        short.stringOctets = 3
        return [
            Row("as many fields as the limit allows", limits: fieldLimit, [0x82, 0x82], nil),
            Row(
                "one field too many", limits: fieldLimit, [0x82, 0x82, 0x82],
                .limitExceeded(.fieldCount, allowed: 2)),
            Row(
                "one literal too many", limits: fieldLimit, [0x82, 0x82, 0x00, 0x00, 0x00],
                .limitExceeded(.fieldCount, allowed: 2)),
            // Each `:method: GET` counts 32 + 10 octets.
            Row("a list within the limit", limits: small, [0x82, 0x82], nil),
            Row(
                "an index over the limit", limits: small, [0x82, 0x82, 0x82],
                .limitExceeded(.listOctets, allowed: 100)),
            Row(
                "a literal that fits exactly", limits: small,
                [0x00, 1, 0x61, 67] + [UInt8](repeating: 0x62, count: 67), nil),
            Row(
                "a literal one octet over the limit", limits: small,
                [0x00, 1, 0x61, 68] + [UInt8](repeating: 0x62, count: 68),
                .limitExceeded(.listOctets, allowed: 100)),
            Row("a name as long as is taken", limits: short, [0x00, 3, 0x61, 0x61, 0x61, 0], nil),
            Row(
                "a name that is too long", limits: short, [0x00, 4, 0x61, 0x61, 0x61, 0x61, 0],
                .limitExceeded(.stringOctets, allowed: 3)),
            Row(
                "a value that is too long", limits: short, [0x00, 0, 4, 0x61, 0x61, 0x61, 0x61],
                .limitExceeded(.stringOctets, allowed: 3)),
            // `aaaa` has 20 bits, and is coded in three octets.
            Row(
                "a value that is too long only when it is decoded", limits: short,
                [0x00, 0, 0x83, 0x18, 0xC6, 0x3F], .limitExceeded(.stringOctets, allowed: 3)),
        ]
    }()

    @Test(arguments: indices + strings + updates + limits) func reads(_ row: Row) throws {
        var decoder = HPACKDecoder(limits: row.limits)
        for limit in row.tableSizeLimits { decoder.setTableSizeLimit(limit) }
        let method: [UInt8] = [0x82]
        guard let expected = row.expected else {
            _ = try decoder.decode(row.block.span)
            return
        }
        #expect(throws: expected) { try decoder.decode(row.block.span) }
        // An error that leaves the peers' tables different is thrown again; an exceeded limit concerns only one list.
        if expected.leavesTablesEqual {
            #expect(try decoder.decode(method.span).count == 1)
        } else {
            #expect(throws: expected) { try decoder.decode(method.span) }
        }
    }

    /// A field that is refused because of a limit still enters the table, so that later blocks are decoded as their sender meant
    /// them.
    @Test func theTableOutlivesARefusal() throws {
        var limits = HPACKLimits()
        limits.fieldCount = 1
        var decoder = HPACKDecoder(limits: limits)
        let first = Octets.hex("82 82 40 01 61 01 62 40 01 63 01 64")
        #expect(throws: HPACKError.limitExceeded(.fieldCount, allowed: 1)) { try decoder.decode(first.span) }
        #expect(decoder.tableEntryCount == 2)
        for (block, expected) in [("bf", "a: b"), ("be", "c: d")] {
            #expect(try Lists.lines(decoder.decode(Octets.hex(block).span)) == [expected])
        }
    }

    /// Checks that a refused block is decoded to its end.
    @Test func fieldsAfterTheLimitAreDecoded() {
        var limits = HPACKLimits()
        limits.fieldCount = 0
        var decoder = HPACKDecoder(limits: limits)
        let block = Octets.hex("82 be")
        #expect(throws: HPACKError.invalidIndex(62)) { try decoder.decode(block.span) }
    }

    /// Decodes one large entry and about a million references to it: decoding stops at the limit of a list.
    @Test func manyReferencesToOneLargeEntry() throws {
        var decoder = HPACKDecoder()
        let value = [UInt8](repeating: 0x61, count: 4_000)
        var block = Octets.hex("40 01 61 7f a1 1e") + value
        #expect(try decoder.decode(block.span).size == 4_033)
        block += [UInt8](repeating: 0xBE, count: 1 << 20)
        #expect(throws: HPACKError.limitExceeded(.listOctets, allowed: 256 * 1024)) {
            try decoder.decode(block.span)
        }
        #expect(try decoder.decode([0xBE].span).size == 4_033)
    }

    /// RFC 7541 §4.4: an entry may evict the entry whose name it uses.
    @Test func aNameOutlivesItsEntry() throws {
        var decoder = HPACKDecoder(tableSize: 40)
        _ = try decoder.decode(Octets.hex("40 04 61 62 63 64 01 31").span)
        let list = try decoder.decode(Octets.hex("7e 02 32 33 be").span)
        #expect(Lists.lines(list) == ["abcd: 23", "abcd: 23"])
        #expect(decoder.tableEntryCount == 1)
    }

    /// RFC 7541 §4.4: an entry larger than the table empties the table, and is not an error.
    @Test func anEntryLargerThanTheTable() throws {
        var decoder = HPACKDecoder(tableSize: 40)
        _ = try decoder.decode(Octets.hex("40 01 61 01 62").span)
        #expect(decoder.tableEntryCount == 1)
        _ = try decoder.decode(Octets.hex("40 01 61 09 62 62 62 62 62 62 62 62 62").span)
        #expect(decoder.tableEntryCount == 0 && decoder.tableSize == 0)
    }

    /// Decodes random octets, and legal blocks with changed octets: the decoder must not trap, and no list may exceed its limit.
    @Test(arguments: 0..<8) func hostileOctets(_ seed: Int) {
        var numbers = SeededNumbers(seed: UInt64(seed) &+ 9113)
        var limits = HPACKLimits()
        limits.listOctets = 2_000
        limits.fieldCount = 20
        var decoder = HPACKDecoder(limits: limits)
        var kept = 0
        for round in 0..<5_000 {
            var block = (0..<Int(numbers.next() % 40)).map { _ in UInt8(truncatingIfNeeded: numbers.next()) }
            if round % 2 == 0 {
                block = Octets.hex(HPACKExamplesTests.several[round / 2 % 4].steps[round % 3].bytes)
                let place = Int(numbers.next() % UInt64(block.count))
                block[place] = UInt8(truncatingIfNeeded: numbers.next())
            }
            if let list = try? decoder.decode(block.span) {
                kept += 1
                #expect(list.size <= 2_000 && list.count <= 20)
            } else if (try? decoder.decode([0x82].span)) == nil {
                decoder = HPACKDecoder(limits: limits)
            }
            #expect(decoder.tableSize <= 4_096)
        }
        #expect(kept > 500)
    }
}
