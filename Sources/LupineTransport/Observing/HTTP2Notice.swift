// SPDX-License-Identifier: MIT

public import LupineHTTP2

/// An HTTP/2 event that is not part of a message: on the connection that carries a transfer, or on the transfer's stream.
///
/// An event of the connection is reported for each transfer that the connection carries at that time. HTTP/1.1 has no such
/// events.
public enum HTTP2Notice: Hashable, Sendable {
    /// The request is sent on this stream.
    case opened(stream: UInt32)
    /// The server's SETTINGS (RFC 9113 §6.5.2) that differ from the initial values, in the order of the RFC's table. Settings
    /// that arrived before the transfer are reported after `opened`.
    case settings([Parameter])
    /// The request's content waited for the server's flow-control window (RFC 9113 §5.2), which has opened. The content may
    /// continue with this many octets.
    case windowOpened(octets: Int)
    /// The server accepts no further requests on this connection: GOAWAY (RFC 9113 §6.8). Requests on streams above `last` are
    /// sent again on another connection.
    case goAway(last: UInt32, HTTP2ErrorCode)
    /// The server ended the stream: RST_STREAM (RFC 9113 §6.4).
    case reset(HTTP2ErrorCode)

    /// One of the server's SETTINGS.
    public struct Parameter: Hashable, Sendable {
        /// The name in the RFC, such as `SETTINGS_MAX_CONCURRENT_STREAMS`.
        public let name: String
        /// The new value.
        public let value: UInt32
    }

    /// Creates the notice of the settings that differ from the initial values.
    init(_ settings: HTTP2Settings) {
        self = .settings(
            settings.changesFromInitial.map { Parameter(name: $0.identifier.description, value: $0.value) })
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
