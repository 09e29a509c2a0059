// SPDX-License-Identifier: MIT

package import LupineHTTP

/// The times in the course of an exchange and the octets that it moved: the values of `URLSessionTaskTransactionMetrics`.
///
/// The time of an event that did not happen is nil. For example, a reused connection was not dialled.
package struct ExchangeMetrics: Hashable, Sendable {
    /// The time at which the exchange was created, just before it was submitted to the pool.
    package var fetchStart: Instant
    /// The metrics of opening the connection; nil if the connection was reused.
    package var dial: DialMetrics?
    /// The time at which the connection began to send the request.
    package var requestStart: Instant?
    /// The time at which the kernel accepted the last byte of the request.
    package var requestEnd: Instant?
    /// The time at which the first byte of a response arrived.
    package var responseStart: Instant?
    /// The time at which the response ended.
    package var responseEnd: Instant?
    /// Whether the connection had carried an earlier exchange.
    package var isReused = false
    /// Whether the exchange was sent again on another connection, after the first one was lost.
    package var wasReplayed = false
    /// The local address of the connection.
    package var localAddress: SocketAddress?
    /// The remote address: the origin's, or the proxy's.
    package var remoteAddress: SocketAddress?
    /// Whether the connection went to or through a proxy.
    package var usedProxy = false
    /// The TLS parameters negotiated with the origin; nil without TLS.
    package var tls: TLSDetails?
    /// The version in the response head; nil before the head arrives.
    package var version: HTTPVersion?
    /// Octets of the request's head.
    package var requestHeadBytes = 0
    /// Octets of the request's content, without framing.
    package var requestContentBytes: Int64 = 0
    /// Octets of the response's heads, interim heads included.
    package var responseHeadBytes = 0
    /// Octets of the response's content as received, before any decoding and without framing.
    package var responseContentBytes: Int64 = 0

    /// Creates metrics that contain only the beginning of the exchange.
    package init(fetchStart: Instant) { self.fetchStart = fetchStart }
}

/// The times in the course of opening a connection; nil for an event that did not happen.
package struct DialMetrics: Hashable, Sendable {
    /// The time at which the look-up of the name began; nil for an address, or for a name that was cached.
    package var lookUpStart: Instant?
    /// The time at which the resolver answered, with addresses or an error.
    package var lookUpEnd: Instant?
    /// The time at which the first address was tried.
    package var connectStart: Instant?
    /// The time at which the TLS handshake with the origin began.
    package var secureStart: Instant?
    /// The time at which the handshake was complete and the origin trusted.
    package var secureEnd: Instant?
    /// The time at which the connection was established, tunnel and TLS included.
    package var connectEnd: Instant?

    /// Creates metrics without any time.
    package init() {}
}
