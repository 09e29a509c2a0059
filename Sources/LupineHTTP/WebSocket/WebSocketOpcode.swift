// SPDX-License-Identifier: MIT

/// The opcode of a frame (RFC 6455 §5.2). The other values are reserved, and refused.
enum WebSocketOpcode: UInt8, Sendable, CaseIterable {
    case continuation = 0x0
    case text = 0x1
    case binary = 0x2
    case close = 0x8
    case ping = 0x9
    case pong = 0xA

    /// Control frames are short, never fragmented, and may appear between the fragments of a message (§5.5).
    var isControl: Bool { rawValue & 0x8 != 0 }
}
