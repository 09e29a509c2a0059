// SPDX-License-Identifier: MIT

/// A close frame: a code and a reason, or an empty payload (RFC 6455 §5.5.1).
package struct WebSocketCloseFrame: Hashable, Sendable {
    /// The maximum length of a reason in octets: the 125 octets of a control frame's payload, without the 2 of the code.
    package static let maximumReasonLength = 123

    /// The code; nil for an empty close frame, for which an API reports the code 1005.
    package let code: WebSocketCloseCode?
    /// The reason, in UTF-8; empty without a code.
    package let reason: [UInt8]

    /// A close frame without a payload.
    package static let empty = WebSocketCloseFrame(validated: nil, reason: [])

    /// Creates a close frame to be sent. Truncates a reason that is too long, at a character boundary.
    ///
    /// - Throws: ``WebSocketError/invalidCloseCodeToSend(_:)`` for a code that is not allowed in a frame,
    ///   ``WebSocketError/invalidReasonToSend`` for a reason that is not UTF-8.
    package init(_ code: WebSocketCloseCode, reason: [UInt8] = []) throws(WebSocketError) {
        guard code.isAllowedInFrames else { throw .invalidCloseCodeToSend(code.rawValue) }
        var validator = UTF8Validator()
        guard validator.validate(reason.span) == nil, validator.isBetweenCharacters else {
            throw .invalidReasonToSend
        }
        self.init(validated: code, reason: Self.truncated(reason))
    }

    /// Parses the payload of a peer's close frame. Throws if it is a single octet, has a code that is not allowed in a frame, or
    /// a reason that is not UTF-8.
    init(received payload: [UInt8]) throws(WebSocketError) {
        if payload.isEmpty {
            self = .empty
            return
        }
        guard payload.count > 1 else { throw .closePayloadTooShort }
        let code = WebSocketCloseCode(rawValue: UInt16(payload[0]) << 8 | UInt16(payload[1]))
        guard code.isAllowedInFrames else { throw .invalidCloseCode(code.rawValue) }
        let reason = Array(payload[2...])
        var validator = UTF8Validator()
        // Offsets count from the beginning of the payload, of which the code has 2 octets.
        if let offset = validator.validate(reason.span) { throw .invalidUTF8(offset: offset + 2) }
        guard validator.isBetweenCharacters else { throw .invalidUTF8(offset: payload.count) }
        self.init(validated: code, reason: reason)
    }

    /// A close frame whose code and reason have been validated.
    private init(validated code: WebSocketCloseCode?, reason: [UInt8]) {
        self.code = code
        self.reason = reason
    }

    /// The close frame that answers this one: the same code, without a reason (§5.5.1).
    var answer: WebSocketCloseFrame { WebSocketCloseFrame(validated: code, reason: []) }

    /// Creates the close frame with which an endpoint answers an error of its peer: it has the error's code, and no reason.
    package init(answering error: WebSocketError) {
        self.init(validated: error.closeCode, reason: [])
    }

    /// The payload of the frame: the code in network byte order, and the reason.
    var payload: [UInt8] {
        guard let code else { return [] }
        let number = code.rawValue
        return [UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)] + reason
    }

    /// Returns a reason truncated to the maximum length, at a character boundary.
    private static func truncated(_ reason: [UInt8]) -> [UInt8] {
        guard reason.count > maximumReasonLength else { return reason }
        var end = maximumReasonLength
        // A continuation octet of UTF-8 has the bits 10xxxxxx. The reason cannot end before one, only before the first octet of a
        // character.
        while end > 0, reason[end] & 0xC0 == 0x80 { end -= 1 }
        return Array(reason[..<end])
    }
}
