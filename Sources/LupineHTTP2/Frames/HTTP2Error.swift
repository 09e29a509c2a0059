// SPDX-License-Identifier: MIT

/// An error in a peer's frames (RFC 9113 §4 and §6). `code` is sent to the peer.
///
/// A thrown error ends the connection (§5.4.1); an error that affects a single stream is reported as the event
/// `streamError` (§5.4.2), and the reader continues.
package enum HTTP2Error: Error, Hashable, Sendable {
    /// The client's connection preface has a wrong octet at the offset (§3.4).
    case invalidPreface(octet: UInt8, offset: Int)
    /// The first frame is not SETTINGS, or is the acknowledgement of SETTINGS (§3.4).
    case settingsExpected(FrameType)
    /// A frame is longer than SETTINGS_MAX_FRAME_SIZE allows (§4.2).
    case frameTooLarge(FrameType, length: Int, allowed: Int)
    /// A frame's length is not allowed for its type, or too small for the parts that its flags announce (§4.2).
    case wrongLength(FrameType, length: Int)
    /// A frame that needs a stream was sent on stream 0.
    case streamNeeded(FrameType)
    /// A frame for the connection was sent on a stream other than 0.
    case connectionNeeded(FrameType, StreamID)
    /// The padding is longer than the rest of the payload, which has `room` octets (§6.1, §6.2, §6.6).
    case paddingTooLong(FrameType, padding: Int, room: Int)
    /// A header block on the first stream was open, but the next frame was not its CONTINUATION (§4.3, §5.5, §6.10).
    case headerBlockInterrupted(StreamID, by: FrameType, on: StreamID)
    /// A CONTINUATION came where no header block is open (§6.10).
    case unexpectedContinuation(StreamID)
    /// A WINDOW_UPDATE has an increment of zero (§6.9).
    case zeroIncrement(StreamID)
    /// PUSH_PROMISE came to a server, or to a client that has refused it (§6.6).
    case pushNotAllowed
    /// PUSH_PROMISE promises a stream that is not server-initiated (§5.1.1, §6.6).
    case invalidPromisedStream(StreamID)
    /// PRIORITY_UPDATE came to a client (RFC 9218 §7.1).
    case priorityUpdateFromServer
    /// PRIORITY_UPDATE names stream 0 (RFC 9218 §7.1).
    case priorityUpdateOfConnection
    /// A setting has an invalid value (§6.5.2, RFC 8441 §3, RFC 9218 §2.1).
    case invalidSetting(Setting)
    /// A limit was exceeded; `allowed` is its value.
    case limitExceeded(FrameLimits.Limit, allowed: Int)

    /// The error code that is sent to the peer.
    package var code: HTTP2ErrorCode {
        switch self {
        case .frameTooLarge, .wrongLength: .frameSizeError
        case .invalidSetting(let setting):
            setting.identifier == .initialWindowSize ? .flowControlError : .protocolError
        case .limitExceeded: .enhanceYourCalm
        case .invalidPreface, .settingsExpected, .streamNeeded, .connectionNeeded, .paddingTooLong,
            .headerBlockInterrupted, .unexpectedContinuation, .zeroIncrement, .pushNotAllowed,
            .invalidPromisedStream, .priorityUpdateFromServer, .priorityUpdateOfConnection:
            .protocolError
        }
    }
}

extension HTTP2Error: CustomStringConvertible {
    package var description: String {
        switch self {
        case .invalidPreface(let octet, let offset):
            "octet \(octet) at offset \(offset) is not the HTTP/2 connection preface"
        case .settingsExpected(let type): "the first frame is \(type), not SETTINGS"
        case .frameTooLarge(let type, let length, let allowed):
            "\(type) has \(length) octets, \(allowed) are allowed"
        case .wrongLength(let type, let length): "\(type) cannot have \(length) octets"
        case .streamNeeded(let type): "\(type) came on stream 0"
        case .connectionNeeded(let type, let stream): "\(type) came on stream \(stream), not 0"
        case .paddingTooLong(let type, let padding, let room):
            "\(type) announces \(padding) octets of padding and has room for \(room)"
        case .headerBlockInterrupted(let stream, let type, let other):
            "\(type) on stream \(other) came inside the header block of stream \(stream)"
        case .unexpectedContinuation(let stream):
            "CONTINUATION on stream \(stream) came where no header block is open"
        case .zeroIncrement(let stream): "WINDOW_UPDATE on stream \(stream) adds nothing"
        case .pushNotAllowed: "PUSH_PROMISE came where it is not allowed"
        case .invalidPromisedStream(let stream): "PUSH_PROMISE promises stream \(stream)"
        case .priorityUpdateFromServer: "a server sent PRIORITY_UPDATE"
        case .priorityUpdateOfConnection: "PRIORITY_UPDATE speaks of stream 0"
        case .invalidSetting(let setting): "\(setting.identifier) cannot be \(setting.value)"
        case .limitExceeded(let limit, let allowed): "\(limit) exceed the limit of \(allowed)"
        }
    }
}
