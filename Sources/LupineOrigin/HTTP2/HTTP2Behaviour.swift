// SPDX-License-Identifier: MIT

/// How an origin speaks HTTP/2: its limits, and when it sends GOAWAY.
package struct HTTP2Behaviour: Sendable {
    /// Streams that a client may have open at once; nil for any number.
    package var streams: Int? = 100
    /// The flow-control window of a stream, in octets.
    package var streamWindow = 65_535
    /// The flow-control window of a connection; at least 65,535.
    package var connectionWindow = 1 << 20
    /// The size of the dynamic table that a client's encoder may use, in octets.
    package var headerTable = 4_096
    /// The number of requests after which a connection sends GOAWAY; it closes when the requests already sent are answered
    /// (the two steps of RFC 9113 §6.8).
    package var requestsPerConnection: Int?
    /// Whether it announces that it uses the priorities of RFC 9218, which it always does.
    package var heedsPriorities = true
    /// Whether it announces support for web sockets (SETTINGS_ENABLE_CONNECT_PROTOCOL, RFC 8441).
    package var takesWebSockets = true

    /// The defaults.
    package init() {}
}
