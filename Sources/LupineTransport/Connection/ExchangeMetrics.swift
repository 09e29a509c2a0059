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
    package var requestStart: Instant?
    package var requestEnd: Instant?
    package var responseStart: Instant?
    package var responseEnd: Instant?
    package var isReused = false
    package var wasReplayed = false
    package var localAddress: SocketAddress?
    package var remoteAddress: SocketAddress?
    package var usedProxy = false
    package var version: HTTPVersion?
    package var requestHeadBytes = 0
    /// Octets of content, without framing.
    package var requestContentBytes: Int64 = 0
    package var responseHeadBytes = 0
    /// Octets of content as they came, before any decoding and without framing.
    package var responseContentBytes: Int64 = 0

    package init(fetchStart: Instant) { self.fetchStart = fetchStart }
}

/// When each step of opening a connection happened.
package struct DialMetrics: Hashable, Sendable {
    package var lookUpStart: Instant?
    package var lookUpEnd: Instant?
    package var connectStart: Instant?
    /// The connection stands, tunnel included.
    package var connectEnd: Instant?

    package init() {}
}
