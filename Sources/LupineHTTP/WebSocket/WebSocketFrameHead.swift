// SPDX-License-Identifier: MIT

/// The head of a frame, before its payload (RFC 6455 §5.2).
struct WebSocketFrameHead: Hashable, Sendable {
    /// The maximum payload of a control frame (§5.5).
    static let maximumControlPayloadLength = 125

    /// Whether it is the last frame of its message.
    var isFinal: Bool
    /// Whether the message that it begins is compressed: the first reserved bit (RFC 7692 §6).
    var isCompressed: Bool
    var opcode: WebSocketOpcode
    /// The length of the payload in octets.
    var length: Int
    /// The key of a client's frame.
    var mask: WebSocketMask?

    /// Writes the head, with the length in as few octets as possible.
    func encode(into output: inout [UInt8]) {
        output.append((isFinal ? 0x80 : 0) | (isCompressed ? 0x40 : 0) | opcode.rawValue)
        // Instead of a length above 125, 126 announces 2 octets with the length, and 127 announces 8.
        let masked: UInt8 = mask == nil ? 0 : 0x80
        if length <= 125 {
            output.append(masked | UInt8(truncatingIfNeeded: length))
        } else if length <= 0xFFFF {
            output.append(masked | 126)
            append(UInt64(length), octets: 2, to: &output)
        } else {
            output.append(masked | 127)
            append(UInt64(length), octets: 8, to: &output)
        }
        if let mask { append(UInt64(mask.key), octets: 4, to: &output) }
    }

    /// Appends the lowest octets of a number in network byte order.
    private func append(_ number: UInt64, octets: Int, to output: inout [UInt8]) {
        for place in stride(from: (octets - 1) * 8, through: 0, by: -8) {
            output.append(UInt8(truncatingIfNeeded: number >> UInt64(place)))
        }
    }
}
