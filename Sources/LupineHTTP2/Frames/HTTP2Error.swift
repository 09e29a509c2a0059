// SPDX-License-Identifier: MIT

/// Everything that can be wrong with a peer's frames (RFC 9113 §4 and §6). `code` is what the peer is told.
///
/// One that is thrown ends the connection (§5.4.1); one that concerns a single stream comes as the event `streamError`
/// (§5.4.2), and the reader goes on.
package enum HTTP2Error: Error, Hashable, Sendable {
    /// The client's connection preface has another octet at the offset (§3.4).
    case invalidPreface(octet: UInt8, offset: Int)
    /// The first frame is not SETTINGS, or is an acknowledgement (§3.4).
    case settingsExpected(FrameType)
    /// A frame is longer than SETTINGS_MAX_FRAME_SIZE allows (§4.2).
    case frameTooLarge(FrameType, length: Int, allowed: Int)
    /// A frame's length is not one that its type has, or too little for what its flags announce (§4.2).
    case wrongLength(FrameType, length: Int)
    /// A frame that belongs to a stream came on stream 0.
    case streamNeeded(FrameType)
    /// A frame that belongs to the connection came on a stream.
    case connectionNeeded(FrameType, StreamID)
    /// There is more padding than payload (§6.1, §6.2, §6.6).
    case paddingTooLong(FrameType, padding: Int, room: Int)
    /// Another frame came where CONTINUATION on that stream was due (§4.3, §5.5, §6.10).
    case headerBlockInterrupted(StreamID, by: FrameType, on: StreamID)
    /// A CONTINUATION came where no header block is open (§6.10).
    case unexpectedContinuation(StreamID)
    /// WINDOW_UPDATE adds nothing (§6.9).
    case zeroIncrement(StreamID)
    /// PUSH_PROMISE came to a server, or to a client that has refused it (§6.6).
    case pushNotAllowed
    /// PUSH_PROMISE promises a stream that is not a server's (§5.1.1, §6.6).
    case invalidPromisedStream(StreamID)
    /// PRIORITY_UPDATE came to a client (RFC 9218 §7.1).
    case priorityUpdateFromServer
    /// PRIORITY_UPDATE speaks of stream 0 (RFC 9218 §7.1).
    case priorityUpdateOfConnection
    /// A setting has a value that it may not have (§6.5.2, RFC 8441 §3, RFC 9218 §2.1).
    case invalidSetting(Setting)
    /// A limit was exceeded; the value is what it allows.
    case limitExceeded(FrameLimits.Limit, allowed: Int)

    /// What the peer is told.
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

/// A sentence for each.
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
