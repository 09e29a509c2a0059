// SPDX-License-Identifier: MIT

/// How an origin speaks HTTP/2: what it lets its clients do, and when it sends them away.
package struct HTTP2Behaviour: Sendable {
    /// Streams that a client may have open at once; nil for any number.
    package var streams: Int? = 100
    /// Octets of a request's content that may come ahead of being taken.
    package var streamWindow = 65_535
    /// The same for all streams of a connection together; at least 65,535.
    package var connectionWindow = 1 << 20
    /// Octets of the table that a client's encoder may use.
    package var headerTable = 4_096
    /// After so many requests a connection says that it will go (GOAWAY), and goes when those that were on their way are
    /// answered: the two steps of RFC 9113 §6.8.
    package var requestsPerConnection: Int?
    /// Whether it says that it heeds the priorities of RFC 9218, which it does in any case.
    package var heedsPriorities = true
    /// Whether it says that it takes web sockets (SETTINGS_ENABLE_CONNECT_PROTOCOL, RFC 8441).
    package var takesWebSockets = true

    /// The defaults.
    package init() {}
}
