// SPDX-License-Identifier: MIT

import LupineHTTP2
import LupineTestKit
import Testing

/// Passes damaged blocks and random octets to both decoders: both must decode the same list, or both must refuse. A failure names
/// the seed.
@Suite struct HPACKHostileTests {
    @Test("[H-4.3] damaged blocks are refused where nghttp2 refuses them", arguments: 0..<8 as Range<UInt64>)
    func damaged(_ part: UInt64) throws {
        var refused = 0
        for seed in (part * 250)..<(part * 250 + 250) {
            var blocks = HostileBlocks(seed: seed)
            var decoder = HPACKDecoder()
            let inflater = NGHTTP2Inflater()
            for _ in 0..<8 {
                for size in blocks.lists.sizes() {
                    blocks.encoder.setTableSizeLimit(size)
                    decoder.setTableSizeLimit(size)
                    try inflater.setTableSize(size)
                }
                let block = blocks.next()
                let own = Result { () throws(HPACKError) in
                    PackedFields.fields(try decoder.decode(block.span))
                }
                let other = Result { () throws(NGHTTP2Failure) in try inflater.decode(block) }
                if case .success(let fields) = own, case .success(let otherFields) = other {
                    #expect(fields == otherFields, "seed \(seed): \(block)")
                    #expect(decoder.tableSize == inflater.tableSize, "seed \(seed): \(block)")
                    continue
                }
                refused += 1
                if case .failure = own, case .failure = other { break }
                Issue.record("seed \(seed): \(own) here, \(other) there: \(block)")
                break
            }
        }
        #expect((50..<250).contains(refused))
    }
}

/// Blocks of an encoder, half of them damaged.
struct HostileBlocks {
    var lists: RandomLists
    var encoder = HPACKEncoder()
    private var random: SeededRandom

    init(seed: UInt64) {
        lists = RandomLists(seed: seed)
        random = SeededRandom(seed: ~seed)
    }

    mutating func next() -> [UInt8] {
        if index(8) == 0 { return (0..<index(40)).map { _ in octet() } }
        var block: [UInt8] = []
        encoder.encode(PackedFields.list(Array(lists.next().prefix(4))), into: &block)
        guard index(2) == 0, !block.isEmpty else { return block }
        // After a field of some hundred octets, random changes reach little.
        block = Array(block.prefix(200))
        for _ in 0...index(3) {
            let place = index(block.count)
            switch index(6) {
            case 0: block.removeSubrange(place...)
            case 1: block.insert(contentsOf: integer(), at: place)
            case 2: block[place] ^= 1 << UInt8(index(8))
            case 3: block[place] = [0x00, 0x20, 0x3F, 0x7F, 0x80, 0xFF][index(6)]
            case 4: block.insert(contentsOf: block[place...].prefix(index(10)), at: place)
            default: block[place] = octet()
            }
            if block.isEmpty { return block }
        }
        return block
    }

    /// Returns an integer with a prefix that is large, or written in more octets than necessary.
    private mutating func integer() -> [UInt8] {
        let first: [UInt8] = [0xFF, 0x7F, 0x3F, 0x1F, 0x0F]
        return [first[index(5)]] + (0..<index(6)).map { _ in [0x80, 0xFF, 0x81][index(3)] } + [
            UInt8(index(128))
        ]
    }

    private mutating func octet() -> UInt8 { UInt8(truncatingIfNeeded: random.next()) }
    private mutating func index(_ count: Int) -> Int { Int(random.next() % UInt64(max(count, 1))) }
}
