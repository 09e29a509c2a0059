// SPDX-License-Identifier: MIT

/// The head of a frame, before its payload (RFC 6455 §5.2).
struct WebSocketFrameHead: Hashable, Sendable {
    /// The maximum payload of a control frame (§5.5).
    static let maximumControlPayloadLength = 125

    /// Whether the frame is the last one of its message.
    var isFinal: Bool
    /// Whether the message that begins with the frame is compressed: the first reserved bit (RFC 7692 §6).
    var isCompressed: Bool
    /// The type of the frame.
    var opcode: WebSocketOpcode
    /// The length of the payload in octets.
    var length: Int
    /// The masking key of a client's frame; nil in a server's frame.
    var mask: WebSocketMask?

    /// Writes the head, with the length in as few octets as possible.
    func encode(into output: inout [UInt8]) {
        // In the first octet, 0x80 is the bit FIN, 0x40 the first reserved bit.
        output.append((isFinal ? 0x80 : 0) | (isCompressed ? 0x40 : 0) | opcode.rawValue)
        // The second octet contains the mask bit and a length up to 125. Instead of a greater length it contains 126 or 127,
        // which announce a length in the next 2 or 8 octets.
        let maskBit: UInt8 = mask == nil ? 0 : 0x80
        if length <= 125 {
            output.append(maskBit | UInt8(truncatingIfNeeded: length))
        } else if length <= 0xFFFF {
            output.append(maskBit | 126)
            append(UInt64(length), octets: 2, to: &output)
        } else {
            output.append(maskBit | 127)
            append(UInt64(length), octets: 8, to: &output)
        }
        if let mask { append(UInt64(mask.key), octets: 4, to: &output) }
    }

    /// Appends the lowest `octets` octets of a number in network byte order.
    private func append(_ number: UInt64, octets: Int, to output: inout [UInt8]) {
        for shift in stride(from: (octets - 1) * 8, through: 0, by: -8) {
            output.append(UInt8(truncatingIfNeeded: number >> UInt64(shift)))
        }
    }
}
