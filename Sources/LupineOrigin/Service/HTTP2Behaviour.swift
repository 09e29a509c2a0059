// SPDX-License-Identifier: MIT

/// The behaviour of an origin over HTTP/2: its settings, and when it closes connections.
package struct HTTP2Behaviour: Sendable {
    /// The number of streams that a client may have open at once; nil for any number.
    package var maxConcurrentStreams: Int? = 100
    /// The initial receive window of a stream.
    package var streamWindow = 65_535
    /// The receive window of a connection; at least 65,535.
    package var connectionWindow = 1 << 20
    /// The size of the dynamic table that a client's encoder may use.
    package var headerTableSize = 4_096
    /// The number of requests after which a connection announces its end with GOAWAY; nil for no limit. The connection closes
    /// when the requests in flight are answered: the two steps of RFC 9113 §6.8.
    package var requestsPerConnection: Int?
    /// Whether the origin announces that it uses the priorities of RFC 9218. It uses them in either case.
    package var announcesPriorities = true
    /// Whether the origin announces that it accepts web sockets (SETTINGS_ENABLE_CONNECT_PROTOCOL, RFC 8441).
    package var acceptsWebSockets = true

    /// Creates the default behaviour.
    package init() {}
}
