// SPDX-License-Identifier: MIT

public import LupineHTTP2

/// What HTTP/2 says beside the messages: of the connection that carries a transfer, or of the transfer's stream.
///
/// What concerns the connection is told to each transfer that it carries at that moment. Over HTTP/1.1 there are none.
public enum HTTP2Notice: Hashable, Sendable {
    /// The request goes out on the stream of that number.
    case opened(stream: UInt32)
    /// The server's SETTINGS (RFC 9113 §6.5.2): what differs from the values that hold before any, in the order of the RFC's
    /// table. What had come before the transfer is told behind `opened`.
    case settings([Parameter])
    /// The server lets the request's content go on, which had to wait for its window (RFC 9113 §5.2): so many octets may be
    /// sent now.
    case windowOpened(octets: Int)
    /// The server takes no further requests on this connection: GOAWAY (RFC 9113 §6.8). Requests on streams above `last`
    /// are sent again on another one.
    case goAway(last: UInt32, HTTP2ErrorCode)
    /// The server ended the stream: RST_STREAM (RFC 9113 §6.4).
    case reset(HTTP2ErrorCode)

    /// One of the server's SETTINGS.
    public struct Parameter: Hashable, Sendable {
        /// The name that the RFC gives it: `SETTINGS_MAX_CONCURRENT_STREAMS`.
        public let name: String
        /// To what it is set.
        public let value: UInt32
    }

    init(_ settings: HTTP2Settings) {
        self = .settings(
            settings.changed.map { Parameter(name: $0.identifier.description, value: $0.value) })
    }
}

extension HTTP2Notice: CustomStringConvertible {
    public var description: String {
        switch self {
        case .opened(let stream): "stream \(stream)"
        case .settings(let parameters) where parameters.isEmpty: "SETTINGS without a change"
        case .settings(let parameters): parameters.map { "\($0.name) \($0.value)" }.joined(separator: ", ")
        case .windowOpened(let octets): "WINDOW_UPDATE, \(octets) octets may be sent"
        case .goAway(let last, let code): "GOAWAY behind stream \(last) (\(code))"
        case .reset(let code): "RST_STREAM (\(code))"
        }
    }
}
