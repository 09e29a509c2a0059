// SPDX-License-Identifier: MIT

internal import Synchronization

/// Counts an origin's connections, requests, bytes and handshakes. Tests may read the counts at any time, on any thread.
///
/// Each count is exact, but two counts need not agree at one moment: the relaxed ordering does not order them.
package final class OriginCounts: Sendable {
    private let acceptedConnections = Atomic<Int>(0)
    private let openConnections = Atomic<Int>(0)
    private let parsedRequests = Atomic<Int>(0)
    private let receivedBytes = Atomic<Int>(0)
    private let sentBytes = Atomic<Int>(0)
    private let completedHandshakes = Atomic<Int>(0)
    private let resumedHandshakes = Atomic<Int>(0)
    private let failedHandshakes = Atomic<Int>(0)

    init() {}

    /// The total number of accepted connections.
    package var connectionsAccepted: Int { acceptedConnections.load(ordering: .relaxed) }
    /// The number of open connections.
    package var connectionsOpen: Int { openConnections.load(ordering: .relaxed) }
    /// The number of requests with a valid head.
    package var requests: Int { parsedRequests.load(ordering: .relaxed) }
    /// The number of bytes of content received on all connections.
    package var bytesReceived: Int { receivedBytes.load(ordering: .relaxed) }
    /// The number of bytes of content sent on all connections.
    package var bytesSent: Int { sentBytes.load(ordering: .relaxed) }

    /// The number of completed TLS handshakes.
    package var handshakesCompleted: Int { completedHandshakes.load(ordering: .relaxed) }
    /// The number of completed TLS handshakes that resumed a session.
    package var handshakesResumed: Int { resumedHandshakes.load(ordering: .relaxed) }
    /// The number of TLS handshakes that failed, or during which the connection was closed.
    package var handshakesFailed: Int { failedHandshakes.load(ordering: .relaxed) }

    /// Counts a new connection. Returns its number, from 0.
    func countOpened() -> Int {
        openConnections.add(1, ordering: .relaxed)
        return acceptedConnections.add(1, ordering: .relaxed).oldValue
    }

    /// Counts the end of a connection.
    func countClosed() { openConnections.subtract(1, ordering: .relaxed) }

    /// Counts a request.
    func countRequest() { parsedRequests.add(1, ordering: .relaxed) }

    /// Counts a completed handshake.
    func countHandshake(isResumed: Bool) {
        completedHandshakes.add(1, ordering: .relaxed)
        if isResumed { resumedHandshakes.add(1, ordering: .relaxed) }
    }

    /// Counts a failed handshake.
    func countFailedHandshake() { failedHandshakes.add(1, ordering: .relaxed) }

    /// Counts received bytes of content.
    func add(received count: Int) { receivedBytes.add(count, ordering: .relaxed) }

    /// Counts sent bytes of content.
    func add(sent count: Int) { sentBytes.add(count, ordering: .relaxed) }
}
