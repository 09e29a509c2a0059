// SPDX-License-Identifier: MIT

/// An error of the peer for which this endpoint resets the stream (RFC 9113 §5.4.2). The connection continues.
package enum HTTP2StreamError: Error, Hashable, Sendable {
    /// A message is malformed.
    case message(MessageError)
    /// A header list exceeds a limit of `HPACKLimits`.
    case headerList(HPACKError)
    /// A frame is invalid in a way that affects only the stream.
    case frame(HTTP2Error)
    /// The peer violated the stream's flow control.
    case flowControl(FlowControlError)
    /// A frame was received after the peer had ended its side of the stream.
    case closed(FrameType, HTTP2ErrorCode)

    /// The error code that is sent to the peer.
    package var code: HTTP2ErrorCode {
        switch self {
        case .message(let error): error.code
        case .headerList: .enhanceYourCalm
        case .frame(let error): error.code
        case .flowControl(let error): error.code
        case .closed(_, let code): code
        }
    }
}

extension HTTP2StreamError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .message(let error): error.description
        case .headerList(let error): error.description
        case .frame(let error): error.description
        case .flowControl(let error): error.description
        case .closed(let type, let code): "\(type) came behind the end of the stream (\(code))"
        }
    }
}
