// SPDX-License-Identifier: MIT

/// Why a connection ends (RFC 9113 §5.4.1). `code` is what the peer is told in GOAWAY.
package enum HTTP2ConnectionError: Error, Hashable, Sendable {
    /// A frame is wrong by itself.
    case frame(HTTP2Error)
    /// A header block could not be decoded, so that the two tables differ.
    case compression(HPACKError)
    /// The peer broke flow control: of a stream, or of the connection.
    case flowControl(FlowControlError, StreamID)
    /// A frame came on a stream whose state does not allow it (§5.1); the code depends on the state.
    case unexpectedFrame(FrameType, StreamID, HTTP2ErrorCode)
    /// An acknowledgement of SETTINGS came, and none was due (§6.5.3).
    case unexpectedAcknowledgement
    /// A GOAWAY takes back more than the one before it (§6.8).
    case goAwayRaised(StreamID, after: StreamID)
    /// PRIORITY_UPDATE speaks of more streams than may be open, or of one that is not the client's (RFC 9218 §7.1).
    case priorityOfUnknownStream(StreamID)
    /// The peer did not acknowledge SETTINGS in time (§6.5.3).
    case settingsTimeout
    /// The peer asked for another handshake of TLS, as the connection's owner has seen (§9.2.1).
    case renegotiation
    /// A limit was exceeded; the value is what it allows.
    case limitExceeded(HTTP2Limits.Limit, allowed: Int)

    /// What the peer is told.
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

/// A sentence for each.
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
