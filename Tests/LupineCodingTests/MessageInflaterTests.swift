// SPDX-License-Identifier: MIT

import LupineCoding
import LupineTestKit
import Testing

/// Tests of compressing messages and decompressing them, with the examples of RFC 7692, and of invalid messages.
struct MessageInflaterTests {
    private static let hello = Array("Hello".utf8)

    private func inflated(
        _ message: [UInt8], by inflater: MessageInflater = MessageInflater(), limit: Int = 1 << 20
    ) throws(CodingError) -> [UInt8] {
        try inflater.inflate(message.span, limit: limit)
    }

    private func deflated(_ message: [UInt8], by deflater: MessageDeflater) -> [UInt8] {
        var output: [UInt8] = []
        deflater.deflate(message.span, into: &output)
        return output
    }

    @Test(
        arguments: [
            ("§7.2.3.1", [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]),
            (
                "§7.2.3.3, a block without compression",
                [0x00, 0x05, 0x00, 0xFA, 0xFF, 0x48, 0x65, 0x6C, 0x6C, 0x6F, 0x00]
            ),
            ("§7.2.3.4, a block with BFINAL set", [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00]),
            (
                "§7.2.3.5, two blocks",
                [0xF2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xCA, 0xC9, 0xC9, 0x07, 0x00]
            ),
        ] as [(String, [UInt8])])
    func theExamplesOfTheRFC(_ title: String, _ message: [UInt8]) throws {
        #expect(try inflated(message) == Self.hello, "\(title)")
    }

    @Test func contextTakeover() throws {
        // RFC 7692 §7.2.3.2.
        let first: [UInt8] = [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]
        let second: [UInt8] = [0xF2, 0x00, 0x11, 0x00, 0x00]
        let deflater = try MessageDeflater()
        #expect(deflated(Self.hello, by: deflater) == first)
        #expect(deflated(Self.hello, by: deflater) == second)
        let inflater = MessageInflater()
        #expect(try inflated(first, by: inflater) == Self.hello)
        #expect(try inflated(second, by: inflater) == Self.hello)
        let withoutContext = MessageInflater(keepsContext: false)
        #expect(try inflated(first, by: withoutContext) == Self.hello)
        #expect(throws: CodingError.self) { try inflated(second, by: withoutContext) }
    }

    @Test func noContextTakeover() throws {
        let deflater = try MessageDeflater(keepsContext: false)
        let first = deflated(Self.hello, by: deflater)
        #expect(deflated(Self.hello, by: deflater) == first)
    }

    @Test func anEmptyMessageIsOneOctet() throws {
        let deflater = try MessageDeflater()
        let inflater = MessageInflater()
        for message in [[], Self.hello, [], [], Self.hello] {
            let compressed = deflated(message, by: deflater)
            if message.isEmpty { #expect(compressed == [0]) }
            #expect(try inflated(compressed, by: inflater) == message)
        }
    }

    @Test(arguments: 9...15, [true, false])
    func messagesAreDecodedUnchanged(_ windowBits: Int, _ keepsContext: Bool) throws {
        let deflater = try MessageDeflater(windowBits: windowBits, keepsContext: keepsContext)
        let inflater = MessageInflater(keepsContext: keepsContext)
        var random = SeededRandom(seed: UInt64(windowBits))
        for _ in 0..<40 {
            let rows = Int.random(in: 0...60, using: &random)
            let noise = SampleBody.noise(Int.random(in: 0...20_000, using: &random))
            let message = SampleBody.json(rows: rows) + noise
            #expect(try inflated(deflated(message, by: deflater), by: inflater) == message)
        }
    }

    @Test(arguments: [0, 1, 5, 16_383, 16_384, 16_385, 100_000])
    func theLimitIsExact(_ count: Int) throws {
        let message = SampleBody.zeros(count)
        let compressed = deflated(message, by: try MessageDeflater())
        #expect(try inflated(compressed, limit: count) == message)
        #expect(try inflated(compressed, limit: .max) == message)
        if count > 0 {
            #expect(throws: CodingError.outputLimit(coding: .deflate, limit: count - 1)) {
                try inflated(compressed, limit: count - 1)
            }
        }
    }

    @Test func aBombIsStoppedAtTheLimit() throws {
        let bomb = deflated(SampleBody.zeros(8 << 20), by: try MessageDeflater())
        #expect(bomb.count < 10_000)
        #expect(throws: CodingError.outputLimit(coding: .deflate, limit: 1 << 20)) { try inflated(bomb) }
    }

    @Test func aTruncatedMessageIsRefusedOrShorter() throws {
        let message = SampleBody.json(rows: 50)
        let compressed = deflated(message, by: try MessageDeflater())
        for cut in 1..<compressed.count {
            if let part = try? inflated(Array(compressed[..<cut])) {
                #expect(part != message, "cut at \(cut)")
            }
        }
        // Truncated within a stored block: the inflater must not read the tail that it appends to each message as content.
        #expect(throws: CodingError.cutShort(coding: .deflate, offset: 7)) {
            try inflated([0x00, 0x20, 0x00, 0xDF, 0xFF, 0x61, 0x62])
        }
    }

    @Test func malformedMessagesAreRefused() {
        #expect(throws: CodingError.self) { try inflated([0x07]) }
        #expect(throws: CodingError.self) { try inflated([0x00, 0x05, 0x00, 0xFA, 0xFE]) }
    }
}
