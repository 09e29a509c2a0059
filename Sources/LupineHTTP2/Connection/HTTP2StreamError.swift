// SPDX-License-Identifier: MIT

/// Why this end resets a stream because of what the peer sent (RFC 9113 §5.4.2). The connection goes on.
package enum HTTP2StreamError: Error, Hashable, Sendable {
    /// A message is malformed.
    case message(MessageError)
    /// A header list is over a limit.
    case headerList(HPACKError)
    /// A frame is wrong in a way that concerns the stream alone.
    case frame(HTTP2Error)
    /// The peer broke the stream's flow control.
    case flowControl(FlowControlError)
    /// A frame came behind the peer's end of the stream.
    case closed(FrameType, HTTP2ErrorCode)

    /// What the peer is told.
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

/// A sentence for each.
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
