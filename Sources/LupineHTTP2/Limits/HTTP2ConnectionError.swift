// SPDX-License-Identifier: MIT

/// A connection error (RFC 9113 §5.4.1). GOAWAY sends its `code` to the peer.
package enum HTTP2ConnectionError: Error, Hashable, Sendable {
    /// A frame is invalid by itself.
    case frame(HTTP2Error)
    /// A header block could not be decoded, so that the dynamic tables of the two endpoints differ.
    case compression(HPACKError)
    /// The peer violated the flow control of a stream or of the connection.
    case flowControl(FlowControlError, StreamID)
    /// A frame was received on a stream whose state does not allow the frame (§5.1); the error code depends on the state.
    case unexpectedFrame(FrameType, StreamID, HTTP2ErrorCode)
    /// An acknowledgement of SETTINGS was received, but the peer had already acknowledged all SETTINGS (§6.5.3).
    case unexpectedAcknowledgement
    /// A GOAWAY names a higher last stream than the previous one (§6.8).
    case goAwayRaised(StreamID, after: StreamID)
    /// PRIORITY_UPDATE names more streams than may be open, or one that the client cannot open (RFC 9218 §7.1).
    case priorityOfUnknownStream(StreamID)
    /// The peer did not acknowledge SETTINGS in time (§6.5.3).
    case settingsTimeout
    /// The peer requested a TLS renegotiation (§9.2.1). The owner of the connection detects this.
    case renegotiation
    /// The peer exceeded a limit of `HTTP2Limits`; `allowed` is its value.
    case limitExceeded(HTTP2Limits.Limit, allowed: Int)

    /// The error code that is sent to the peer.
    package var code: HTTP2ErrorCode {
        switch self {
        case .frame(let error): error.code
        case .compression: .compressionError
        case .flowControl(let error, _): error.code
        case .unexpectedFrame(_, _, let code): code
        case .unexpectedAcknowledgement, .goAwayRaised, .priorityOfUnknownStream, .renegotiation:
            .protocolError
        case .settingsTimeout: .settingsTimeout
        case .limitExceeded: .enhanceYourCalm
        }
    }
}

extension HTTP2ConnectionError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .frame(let error): error.description
        case .compression(let error): error.description
        case .flowControl(let error, let stream):
            stream.isConnection ? error.description : "\(error) on stream \(stream)"
        case .unexpectedFrame(let type, let stream, let code):
            "\(type) came on stream \(stream), whose state does not allow it (\(code))"
        case .unexpectedAcknowledgement: "an acknowledgement of SETTINGS came, and none was due"
        case .goAwayRaised(let last, let before):
            "GOAWAY names stream \(last) as the last one, after \(before)"
        case .priorityOfUnknownStream(let stream):
            "PRIORITY_UPDATE speaks of stream \(stream), which may not be opened"
        case .settingsTimeout: "the peer did not acknowledge SETTINGS in time"
        case .renegotiation: "the peer asked to renegotiate TLS"
        case .limitExceeded(let limit, let allowed): "\(limit) exceed the limit of \(allowed)"
        }
    }
}
