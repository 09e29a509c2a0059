// SPDX-License-Identifier: MIT

/// Parses the heads of a peer's frames, octet by octet, and refuses those that the peer may not send (RFC 6455 §5.2).
///
/// The parser throws at the first octet that violates a rule. It checks each frame by itself; `WebSocketReader` assembles
/// messages from frames, and checks their order.
struct WebSocketFrameHeadParser {
    private enum State {
        /// Before the first octet.
        case first
        /// Before the second octet.
        case second(WebSocketFrameHead)
        /// In a length of 2 or 8 octets, of which `remaining` are still missing. `value` is the number in the octets so far. The
        /// whole length must be at least `minimum`, because a lesser one has to be written in fewer octets.
        case length(WebSocketFrameHead, isMasked: Bool, remaining: Int, minimum: UInt64, value: UInt64)
        /// In a masking key, of which `remaining` octets are still missing. `key` contains the octets so far.
        case mask(WebSocketFrameHead, remaining: Int, key: UInt32)
    }

    private var state = State.first
    /// The role of this end of the connection; the frames are those of the other end.
    private let role: WebSocketRole
    /// Whether permessage-deflate has been negotiated, which defines the first reserved bit.
    private let allowsCompression: Bool

    init(_ role: WebSocketRole, allowsCompression: Bool) {
        self.role = role
        self.allowsCompression = allowsCompression
    }

    /// Parses one octet. Returns the head if the octet was its last one; the parser is then ready for the next frame.
    mutating func parse(_ octet: UInt8) throws(WebSocketError) -> WebSocketFrameHead? {
        switch state {
        case .first:
            state = .second(try parseFirstOctet(octet))
            return nil
        case .second(let head):
            return try parseSecondOctet(octet, head)
        case .length(var head, let isMasked, let remaining, let minimum, let value):
            // The high bit of a length of 8 octets must be zero.
            if remaining == 8, octet >= 0x80 { throw .lengthOverflow }
            let newValue = value << 8 | UInt64(octet)
            guard remaining == 1 else {
                state = .length(
                    head, isMasked: isMasked, remaining: remaining - 1, minimum: minimum, value: newValue)
                return nil
            }
            guard newValue >= minimum else { throw .lengthNotMinimal(newValue) }
            guard let length = Int(exactly: newValue) else { throw .lengthOverflow }
            head.length = length
            return endLength(head, isMasked: isMasked)
        case .mask(var head, let remaining, let key):
            let newKey = key << 8 | UInt32(octet)
            guard remaining == 1 else {
                state = .mask(head, remaining: remaining - 1, key: newKey)
                return nil
            }
            head.mask = WebSocketMask(key: newKey)
            state = .first
            return head
        }
    }

    /// Parses the flags and the opcode.
    private func parseFirstOctet(_ octet: UInt8) throws(WebSocketError) -> WebSocketFrameHead {
        guard let opcode = WebSocketOpcode(rawValue: octet & 0x0F) else {
            throw .reservedOpcode(octet & 0x0F)
        }
        let isCompressed = octet & 0x40 != 0
        // The compression bit applies to a whole message, so only the first frame of a message may have it (RFC 7692 §6).
        let mayBeCompressed = allowsCompression && (opcode == .text || opcode == .binary)
        // 0x40 is the first reserved bit, 0x30 are the other two.
        guard octet & 0x30 == 0, !isCompressed || mayBeCompressed else { throw .reservedBits(octet: octet) }
        // The bit FIN.
        let isFinal = octet & 0x80 != 0
        guard isFinal || !opcode.isControl else { throw .fragmentedControlFrame(opcode: opcode.rawValue) }
        return WebSocketFrameHead(
            isFinal: isFinal, isCompressed: isCompressed, opcode: opcode, length: 0, mask: nil)
    }

    /// Parses the second octet: the mask bit, and either the length or, as 126 or 127, the number of octets in which it follows.
    private mutating func parseSecondOctet(
        _ octet: UInt8, _ head: WebSocketFrameHead
    ) throws(WebSocketError) -> WebSocketFrameHead? {
        var head = head
        let isMasked = octet & 0x80 != 0
        switch role {
        case .client: if isMasked { throw .maskedFrame }
        case .server: if !isMasked { throw .unmaskedFrame }
        }
        let length = octet & 0x7F
        if length <= 125 {
            head.length = Int(length)
            return endLength(head, isMasked: isMasked)
        }
        guard !head.opcode.isControl else { throw .controlFrameTooLong(opcode: head.opcode.rawValue) }
        if length == 126 {
            state = .length(head, isMasked: isMasked, remaining: 2, minimum: 126, value: 0)
        } else {
            state = .length(head, isMasked: isMasked, remaining: 8, minimum: 0x1_0000, value: 0)
        }
        return nil
    }

    /// Continues after the length. Returns the head if it is complete, nil if a masking key follows.
    private mutating func endLength(_ head: WebSocketFrameHead, isMasked: Bool) -> WebSocketFrameHead? {
        state = isMasked ? .mask(head, remaining: 4, key: 0) : .first
        return isMasked ? nil : head
    }
}
