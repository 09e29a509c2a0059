// SPDX-License-Identifier: MIT

import FuzzKit
import LupineHTTP

/// A conversation of the fuzzer's choice, as one endpoint writes it, and as the other must read it.
struct FramePlan {
    private(set) var wire: [UInt8] = []
    private(set) var events: [WebSocketEvent] = []

    init(_ input: inout FuzzInput, from role: WebSocketRole) {
        var codec = WebSocketCodec(role, allowsCompression: true)
        var open: WebSocketMessage?
        while !input.isEmpty {
            let shape = input.readOctet()
            let mask: WebSocketMask? =
                role == .client
                ? WebSocketMask(
                    key: UInt32(input.readOctet()) << 24 | UInt32(input.readOctet()) << 9 | UInt32(shape))
                : nil
            let payload = input.readPiece()
            switch shape & 7 {
            case 0:
                let short = Array(payload.prefix(125))
                codec.sendPing(short.span, mask: mask, into: &wire)
                events.append(.ping(short))
            case 1:
                let short = Array(payload.prefix(125))
                codec.sendPong(short.span, mask: mask, into: &wire)
                events.append(.pong(short))
            case 2 where shape & 0x18 == 0x18:
                let closure = Self.closure(payload)
                _ = codec.close(.close(closure), mask: mask, into: &wire)
                events.append(.close(closure))
                return
            default:
                // Repeats the payload, so that the lengths of two and of eight octets occur, too.
                let times = shape & 0xC0 == 0xC0 ? 300 : 1
                var octets = Array(repeatElement(payload, count: times).joined())
                var message: WebSocketMessage
                if let begun = open {
                    message = begun
                } else {
                    let kind: WebSocketMessage.Kind = shape & 8 == 0 ? .binary : .text
                    message = WebSocketMessage(kind, [], isCompressed: kind == .binary && shape & 16 != 0)
                }
                if message.kind == .text { octets = octets.map { $0 & 0x7F } }
                let isFinal = shape & 32 == 0
                codec.send(
                    message.kind, octets.span, isFinal: isFinal,
                    isCompressed: open == nil && message.isCompressed, mask: mask, into: &wire)
                message.octets += octets
                open = isFinal ? nil : message
                if isFinal { events.append(.message(message)) }
            }
            if wire.count > 500_000 || (open?.octets.count ?? 0) > 500_000 { return }
        }
    }

    /// Returns a close frame of any code and reason that can be sent.
    private static func closure(_ payload: [UInt8]) -> WebSocketCloseFrame {
        guard payload.count > 1 else { return .empty }
        let code = WebSocketCloseCode(rawValue: UInt16(payload[0]) << 8 | UInt16(payload[1]))
        do throws(WebSocketError) {
            return try WebSocketCloseFrame(code, reason: Array(payload[2...]))
        } catch {
            return .empty
        }
    }
}
