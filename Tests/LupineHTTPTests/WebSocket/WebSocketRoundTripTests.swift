// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineTestKit
import Testing

/// Tests that each end reads what the other has sent, however it is fragmented and cut.
@Suite struct WebSocketRoundTripTests {
    @Test(arguments: 0..<200) func messagesArriveUnchanged(_ seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let role = WebSocketRole.allCases[seed % 2]
        var sender = WebSocketCodec(role, allowsCompression: true)
        var receiver = WebSocketCodec(role == .client ? .server : .client, allowsCompression: true)
        var wire: [UInt8] = []
        var sent: [WebSocketEvent] = []
        func mask() -> WebSocketMask? {
            role == .client ? WebSocketMask(key: UInt32(truncatingIfNeeded: random.next())) : nil
        }
        for _ in 0..<Int.random(in: 1...8, using: &random) {
            let message = Self.message(&random)
            var remaining = message.octets[...]
            var isFirst = true
            repeat {
                let isLast = Bool.random(using: &random)
                let piece =
                    isLast ? remaining : remaining.prefix(Int.random(in: 0...remaining.count, using: &random))
                sender.send(
                    message.kind, piece.span, isFinal: isLast, isCompressed: isFirst && message.isCompressed,
                    mask: mask(), into: &wire)
                remaining = remaining.dropFirst(piece.count)
                if isLast { break }
                isFirst = false
                let payload = Self.octets(Int.random(in: 0...125, using: &random), &random)
                switch random.next() % 4 {
                case 0:
                    sender.sendPing(payload.span, mask: mask(), into: &wire)
                    sent.append(.ping(payload))
                case 1:
                    sender.sendPong(payload.span, mask: mask(), into: &wire)
                    sent.append(.pong(payload))
                default: break
                }
            } while true
            sent.append(.message(message))
        }
        let closure = try WebSocketCloseFrame(
            WebSocketCloseCode(rawValue: 4000 + UInt16(seed)), reason: [0x61])
        _ = sender.close(.close(closure), mask: mask(), into: &wire)
        sent.append(.close(closure))

        var received: [WebSocketEvent] = []
        var remaining = wire[...]
        while !remaining.isEmpty {
            var piece = remaining.prefix(Int.random(in: 1...2_000, using: &random))
            remaining = remaining.dropFirst(piece.count)
            while true {
                let (event, consumed) = try receiver.next(piece.span)
                piece = piece.dropFirst(consumed)
                if event == .needMore { break }
                received.append(event)
            }
        }
        #expect(received == sent)
    }

    private static func message(_ random: inout SeededRandom) -> WebSocketMessage {
        let count = [0, 1, 100, 125, 126, 4_000, 65_535, 70_000].randomElement(using: &random) ?? 0
        if Bool.random(using: &random) {
            return WebSocketMessage(
                .binary, octets(count, &random), isCompressed: Bool.random(using: &random))
        }
        var text = ""
        let letters = Array("aZ0 é€😀\u{7FF}\u{800}\u{FFFF}\u{10FFFF}")
        for _ in 0..<(count / 3) { text.append(letters[Int.random(in: letters.indices, using: &random)]) }
        return WebSocketMessage(.text, Array(text.utf8))
    }

    private static func octets(_ count: Int, _ random: inout SeededRandom) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }
}
