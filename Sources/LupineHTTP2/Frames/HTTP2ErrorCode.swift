// SPDX-License-Identifier: MIT

/// A code that says why a stream or connection ends: RFC 9113 §7. Unknown codes are kept as they came.
package struct HTTP2ErrorCode: Hashable, Sendable, CustomStringConvertible {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package static let noError = HTTP2ErrorCode(rawValue: 0x00)
    package static let protocolError = HTTP2ErrorCode(rawValue: 0x01)
    package static let internalError = HTTP2ErrorCode(rawValue: 0x02)
    package static let flowControlError = HTTP2ErrorCode(rawValue: 0x03)
    package static let settingsTimeout = HTTP2ErrorCode(rawValue: 0x04)
    package static let streamClosed = HTTP2ErrorCode(rawValue: 0x05)
    package static let frameSizeError = HTTP2ErrorCode(rawValue: 0x06)
    package static let refusedStream = HTTP2ErrorCode(rawValue: 0x07)
    package static let cancel = HTTP2ErrorCode(rawValue: 0x08)
    package static let compressionError = HTTP2ErrorCode(rawValue: 0x09)
    package static let connectError = HTTP2ErrorCode(rawValue: 0x0A)
    package static let enhanceYourCalm = HTTP2ErrorCode(rawValue: 0x0B)
    package static let inadequateSecurity = HTTP2ErrorCode(rawValue: 0x0C)
    package static let http11Required = HTTP2ErrorCode(rawValue: 0x0D)

    private static let names = [
        "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT",
        "STREAM_CLOSED", "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR",
        "ENHANCE_YOUR_CALM", "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
    ]

    /// The registered name, or the number.
    package var description: String {
        rawValue < UInt32(Self.names.count) ? Self.names[Int(rawValue)] : "error code \(rawValue)"
    }
}
