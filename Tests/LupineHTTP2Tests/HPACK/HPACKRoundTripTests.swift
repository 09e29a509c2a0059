// SPDX-License-Identifier: MIT

import Testing

@testable import LupineHTTP2

/// Tests that the decoder returns every list that the encoder has encoded, and that both tables stay equal.
@Suite struct HPACKRoundTripTests {
    static let names = [
        ":method", ":path", ":status", ":authority", "accept", "cookie", "set-cookie", "authorization",
        "proxy-authorization", "content-type", "x-request-id", "x-a", "x-b", "etag", "date", "",
    ]

    /// Checks 25 connections with 1,000 lists each.
    @Test(arguments: 0..<25) func listsAreDecodedUnchanged(_ seed: Int) throws {
        var numbers = SeededNumbers(seed: UInt64(seed))
        var encoder = HPACKEncoder(tableSizeLimit: [4_096, 0, 100, 65_536][seed % 4])
        encoder.usesHuffman = seed % 3 != 0
        var decoder = HPACKDecoder()
        var block: [UInt8] = []
        for _ in 0..<1_000 {
            if numbers.next() % 8 == 0 {
                for _ in 0...Int(numbers.next() % 3) {
                    let size = [0, 31, 32, 40, 100, 500, 4_096, 20_000].randomElement(using: &numbers) ?? 0
                    encoder.setTableSizeLimit(size)
                    decoder.setTableSizeLimit(size)
                }
            }
            let list = Self.list(&numbers)
            block.removeAll(keepingCapacity: true)
            encoder.encode(list, into: &block)
            let decoded = try decoder.decode(block.span)
            #expect(decoded == list)
            #expect(decoder.tableSize == encoder.tableSize)
            #expect(decoder.tableEntryCount == encoder.tableEntryCount)
            for index in list.indices { Self.checkIndexing(list, decoded, at: index) }
        }
    }

    /// Checks that fields marked as never indexed, or sensitive by their name, are never indexed.
    private static func checkIndexing(_ list: HeaderList, _ decoded: HeaderList, at index: Int) {
        let name = Octets.text(list.octets[list.nameRange(at: index)])
        let isSensitive =
            switch name {
            case "authorization", "proxy-authorization": true
            case "cookie", "set-cookie":
                list.valueRange(at: index).count < HPACKEncoder.shortCookieOctets
            default: false
            }
        if isSensitive || list.indexing(at: index) == .never {
            #expect(decoded.indexing(at: index) == .never)
        } else {
            #expect(decoded.indexing(at: index) != .never)
        }
    }

    private static func list(_ numbers: inout SeededNumbers) -> HeaderList {
        var list = HeaderList()
        for _ in 0..<Int(numbers.next() % 12) {
            let name = names[Int(numbers.next() % UInt64(names.count))]
            let indexing: HeaderList.Indexing =
                switch numbers.next() % 8 {
                case 0: .never
                case 1: .without
                default: .incremental
                }
            let value = value(&numbers)
            list.append(name: name.utf8.span, value: value.span, indexing: indexing)
        }
        return list
    }

    private static func value(_ numbers: inout SeededNumbers) -> [UInt8] {
        switch numbers.next() % 8 {
        case 0: return []
        case 1, 2, 3:
            return Array(["GET", "/", "200", "a", "text/html", "no-cache"][Int(numbers.next() % 6)].utf8)
        case 4: return (0..<Int(numbers.next() % 40)).map { _ in UInt8(truncatingIfNeeded: numbers.next()) }
        case 5: return [UInt8](repeating: 0x61, count: Int(numbers.next() % 400))
        default: return Array("v\(numbers.next() % 30)".utf8)
        }
    }
}
