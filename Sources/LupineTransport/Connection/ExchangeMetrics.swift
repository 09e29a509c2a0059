// SPDX-License-Identifier: MIT

package import LupineHTTP

/// When each step of an exchange happened, and what it moved: the milestones of URLSession's transaction metrics.
///
/// A step that did not happen has no instant: a reused connection was not dialled.
package struct ExchangeMetrics: Hashable, Sendable {
    /// The exchange was submitted.
    package var fetchStart: Instant
    /// What opening the connection took; nil when it was reused.
    package var dial: DialMetrics?
    /// The connection took the exchange and began to send.
    package var requestStart: Instant?
    /// The last byte of the request was handed to the kernel.
    package var requestEnd: Instant?
    /// The first byte of a response came.
    package var responseStart: Instant?
    /// The response was over.
    package var responseEnd: Instant?
    /// The connection had carried an earlier exchange.
    package var isReused = false
    /// The exchange was sent again on another connection, after the first one died.
    package var wasReplayed = false
    /// Our end of the connection.
    package var localAddress: SocketAddress?
    /// The other end: the origin's, or the proxy's.
    package var remoteAddress: SocketAddress?
    /// The connection went to or through a proxy.
    package var usedProxy = false
    /// What TLS with the origin has agreed on; nil without TLS.
    package var tls: TLSDetails?
    /// What the response's head names.
    package var version: HTTPVersion?
    /// Octets of the request's head.
    package var requestHeadBytes = 0
    /// Octets of content, without framing.
    package var requestContentBytes: Int64 = 0
    /// Octets of the response's heads.
    package var responseHeadBytes = 0
    /// Octets of content as they came, before any decoding and without framing.
    package var responseContentBytes: Int64 = 0

    /// The metrics of an exchange of which nothing is known but its beginning.
    package init(fetchStart: Instant) { self.fetchStart = fetchStart }
}

/// When each step of opening a connection happened.
package struct DialMetrics: Hashable, Sendable {
    /// The name was given to the resolver; nil where nothing had to be looked up: an address, or a name known already.
    package var lookUpStart: Instant?
    /// Addresses, or the reason for none, were at hand.
    package var lookUpEnd: Instant?
    /// The first address was tried.
    package var connectStart: Instant?
    /// The handshake of TLS with the origin began.
    package var secureStart: Instant?
    /// The handshake was over and the origin trusted.
    package var secureEnd: Instant?
    /// The connection stands, tunnel and TLS included.
    package var connectEnd: Instant?

    /// Nothing has happened yet.
    package init() {}
}
