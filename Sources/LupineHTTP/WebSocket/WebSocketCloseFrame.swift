// SPDX-License-Identifier: MIT

/// The content of a close frame: a code and a reason, or nothing (RFC 6455 §5.5.1).
package struct WebSocketCloseFrame: Hashable, Sendable {
    /// The maximum length of a reason: a control frame's payload without the code.
    package static let maximumReasonLength = 123

    /// The code; nil for an empty close frame, which APIs report as 1005.
    package let code: WebSocketCloseCode?
    /// The reason, in UTF-8; empty without a code.
    package let reason: [UInt8]

    /// A close frame without a payload.
    package static let empty = WebSocketCloseFrame(validated: nil, reason: [])

    /// A close frame to be sent. A reason that is too long is truncated at a character boundary.
    ///
    /// - Throws: ``WebSocketError/invalidCloseCodeToSend(_:)`` for a code that is not allowed in a frame,
    ///   ``WebSocketError/invalidReasonToSend`` for a reason that is not UTF-8.
    package init(_ code: WebSocketCloseCode, reason: [UInt8] = []) throws(WebSocketError) {
        guard code.isAllowedInFrames else { throw .invalidCloseCodeToSend(code.rawValue) }
        var progress = UTF8Validator()
        guard progress.validate(reason.span) == nil, progress.isBetweenCharacters else {
            throw .invalidReasonToSend
        }
        self.init(validated: code, reason: Self.shortened(reason))
    }

    /// Parses the payload of a peer's close frame.
    init(received payload: [UInt8]) throws(WebSocketError) {
        if payload.isEmpty {
            self = .empty
            return
        }
        guard payload.count > 1 else { throw .closePayloadTooShort }
        let code = WebSocketCloseCode(rawValue: UInt16(payload[0]) << 8 | UInt16(payload[1]))
        guard code.isAllowedInFrames else { throw .invalidCloseCode(code.rawValue) }
        let reason = Array(payload[2...])
        var progress = UTF8Validator()
        if let offset = progress.validate(reason.span) { throw .invalidUTF8(offset: offset + 2) }
        guard progress.isBetweenCharacters else { throw .invalidUTF8(offset: payload.count) }
        self.init(validated: code, reason: reason)
    }

    private init(validated code: WebSocketCloseCode?, reason: [UInt8]) {
        self.code = code
        self.reason = reason
    }

    /// The close frame that answers this one: the same code, without a reason (§5.5.1).
    var answer: WebSocketCloseFrame { WebSocketCloseFrame(validated: code, reason: []) }

    /// The close frame that answers a peer's error.
    package init(answering error: WebSocketError) {
        self.init(validated: error.closeCode, reason: [])
    }

    /// The frame's payload.
    var payload: [UInt8] {
        guard let code else { return [] }
        let value = code.rawValue
        return [UInt8(truncatingIfNeeded: value >> 8), UInt8(truncatingIfNeeded: value)] + reason
    }

    /// Truncates a reason so that it fits. A continuation octet of UTF-8, 10xxxxxx, is not the beginning of a character.
    private static func shortened(_ reason: [UInt8]) -> [UInt8] {
        guard reason.count > maximumReasonLength else { return reason }
        var end = maximumReasonLength
        while end > 0, reason[end] & 0xC0 == 0x80 { end -= 1 }
        return Array(reason[..<end])
    }
}
