// SPDX-License-Identifier: MIT

/// The reason for which a stream or connection ends: RFC 9113 §7. Unknown codes are kept as received.
public struct HTTP2ErrorCode: Hashable, Sendable, CustomStringConvertible {
    /// The number on the wire.
    public let rawValue: UInt32

    /// Creates a code from its number.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// No error: for example, a graceful shutdown.
    public static let noError = HTTP2ErrorCode(rawValue: 0x00)
    /// The peer violated the protocol; no more specific code applies.
    public static let protocolError = HTTP2ErrorCode(rawValue: 0x01)
    /// The sender had an unexpected internal error.
    public static let internalError = HTTP2ErrorCode(rawValue: 0x02)
    /// The peer violated flow control.
    public static let flowControlError = HTTP2ErrorCode(rawValue: 0x03)
    /// Settings were not acknowledged in time.
    public static let settingsTimeout = HTTP2ErrorCode(rawValue: 0x04)
    /// A frame was received on a closed or half-closed stream.
    public static let streamClosed = HTTP2ErrorCode(rawValue: 0x05)
    /// A frame has an invalid size.
    public static let frameSizeError = HTTP2ErrorCode(rawValue: 0x06)
    /// The stream was not processed: its request may be sent again.
    public static let refusedStream = HTTP2ErrorCode(rawValue: 0x07)
    /// The stream is no longer needed.
    public static let cancel = HTTP2ErrorCode(rawValue: 0x08)
    /// The header compression state cannot be maintained.
    public static let compressionError = HTTP2ErrorCode(rawValue: 0x09)
    /// The connection established by CONNECT was reset or closed abnormally.
    public static let connectError = HTTP2ErrorCode(rawValue: 0x0A)
    /// The peer causes excessive load.
    public static let enhanceYourCalm = HTTP2ErrorCode(rawValue: 0x0B)
    /// The transport is not secure enough.
    public static let inadequateSecurity = HTTP2ErrorCode(rawValue: 0x0C)
    /// The server requires HTTP/1.1 for the request.
    public static let http11Required = HTTP2ErrorCode(rawValue: 0x0D)

    private static let names = [
        "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT",
        "STREAM_CLOSED", "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR",
        "ENHANCE_YOUR_CALM", "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
    ]

    /// The registered name, or the number.
    public var description: String {
        rawValue < UInt32(Self.names.count) ? Self.names[Int(rawValue)] : "error code \(rawValue)"
    }
}
