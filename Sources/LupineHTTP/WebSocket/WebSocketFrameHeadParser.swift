// SPDX-License-Identifier: MIT

/// Parses the heads of frames, octet by octet, and refuses those that the peer may not send (RFC 6455 §5.2).
///
/// It checks one frame at a time; `WebSocketReader` assembles messages from frames. It throws at the first octet that violates a
/// rule.
struct WebSocketFrameHeadParser {
    private enum State {
        case first
        case second(WebSocketFrameHead)
        /// In a length of 2 or 8 octets, of which `remaining` are still missing. `minimum` is the least value that needs so many.
        case length(WebSocketFrameHead, isMasked: Bool, remaining: Int, minimum: UInt64, value: UInt64)
        /// In a masking key, of which `remaining` octets are still missing.
        case mask(WebSocketFrameHead, remaining: Int, key: UInt32)
    }

    private var state = State.first
    /// The local role; the frames are the peer's.
    private let role: WebSocketRole
    /// Whether permessage-deflate was negotiated, which defines the first reserved bit.
    private let allowsCompression: Bool

    init(_ role: WebSocketRole, allowsCompression: Bool) {
        self.role = role
        self.allowsCompression = allowsCompression
    }

    /// Parses one octet. Returns the head if that was its last octet; the parser is then ready for the next frame.
    mutating func parse(_ octet: UInt8) throws(WebSocketError) -> WebSocketFrameHead? {
        switch state {
        case .first:
            state = .second(try parseFirstOctet(octet))
            return nil
        case .second(let head):
            return try parseLength(octet, head)
        case .length(var head, let isMasked, let remaining, let minimum, let value):
            // The high bit of a length of 8 octets must be zero.
            if remaining == 8, octet >= 0x80 { throw .lengthOverflow }
            let value = value << 8 | UInt64(octet)
            guard remaining == 1 else {
                state = .length(
                    head, isMasked: isMasked, remaining: remaining - 1, minimum: minimum, value: value)
                return nil
            }
            guard value >= minimum else { throw .lengthNotMinimal(value) }
            guard let length = Int(exactly: value) else { throw .lengthOverflow }
            head.length = length
            return finish(head, isMasked: isMasked)
        case .mask(var head, let remaining, let key):
            let key = key << 8 | UInt32(octet)
            guard remaining == 1 else {
                state = .mask(head, remaining: remaining - 1, key: key)
                return nil
            }
            head.mask = WebSocketMask(key: key)
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
        // The bit applies to a message, so it is allowed only in the first frame (RFC 7692 §6).
        let mayBeCompressed = allowsCompression && (opcode == .text || opcode == .binary)
        // 0x30 are the other two reserved bits.
        guard octet & 0x30 == 0, !isCompressed || mayBeCompressed else { throw .reservedBits(octet: octet) }
        let isFinal = octet & 0x80 != 0
        guard isFinal || !opcode.isControl else { throw .fragmentedControlFrame(opcode: opcode.rawValue) }
        return WebSocketFrameHead(
            isFinal: isFinal, isCompressed: isCompressed, opcode: opcode, length: 0, mask: nil)
    }

    /// Parses the mask bit, and the length or its first octet.
    private mutating func parseLength(
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
            return finish(head, isMasked: isMasked)
        }
        guard !head.opcode.isControl else { throw .controlFrameTooLong(opcode: head.opcode.rawValue) }
        if length == 126 {
            state = .length(head, isMasked: isMasked, remaining: 2, minimum: 126, value: 0)
        } else {
            state = .length(head, isMasked: isMasked, remaining: 8, minimum: 0x1_0000, value: 0)
        }
        return nil
    }

    /// Ends the length: returns the head unless a masking key follows.
    private mutating func finish(_ head: WebSocketFrameHead, isMasked: Bool) -> WebSocketFrameHead? {
        state = isMasked ? .mask(head, remaining: 4, key: 0) : .first
        return isMasked ? nil : head
    }
}
