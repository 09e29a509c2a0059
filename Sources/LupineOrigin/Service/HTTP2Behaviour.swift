// SPDX-License-Identifier: MIT

/// The behaviour of an origin over HTTP/2: its settings, and when it closes connections.
package struct HTTP2Behaviour: Sendable {
    /// The number of streams that a client may have open at once (SETTINGS_MAX_CONCURRENT_STREAMS); nil for any number.
    package var maxConcurrentStreams: Int? = 100
    /// The initial receive window of a stream, in octets.
    package var streamWindow = 65_535
    /// The receive window of a connection, in octets; at least 65,535.
    package var connectionWindow = 1 << 20
    /// The maximum size in octets of the HPACK dynamic table that a client's encoder may use (SETTINGS_HEADER_TABLE_SIZE).
    package var headerTableSize = 4_096
    /// The number of requests after which the origin announces the end of a connection with GOAWAY; nil for no limit. The
    /// connection closes when all its requests are answered: the graceful shutdown of RFC 9113 §6.8.
    package var requestsPerConnection: Int?
    /// Whether the origin announces that it uses the priorities of RFC 9218 instead of those of RFC 7540
    /// (SETTINGS_NO_RFC7540_PRIORITIES). The origin uses the priorities of RFC 9218 in either case.
    package var announcesPriorities = true
    /// Whether the origin announces that it accepts web sockets (SETTINGS_ENABLE_CONNECT_PROTOCOL, RFC 8441).
    package var acceptsWebSockets = true

    /// Creates the default behaviour.
    package init() {}
}
