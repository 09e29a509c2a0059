// SPDX-License-Identifier: MIT

internal import Synchronization

/// Counts an origin's connections, requests, bytes and handshakes. Tests may read the counts at any time, on any thread.
///
/// Each count is exact, but two counts need not agree at one moment: the relaxed ordering does not order them.
package final class OriginCounts: Sendable {
    private let connectionsAcceptedCounter = Atomic<Int>(0)
    private let connectionsOpenCounter = Atomic<Int>(0)
    private let requestsCounter = Atomic<Int>(0)
    private let bytesReceivedCounter = Atomic<Int>(0)
    private let bytesSentCounter = Atomic<Int>(0)
    private let handshakesCompletedCounter = Atomic<Int>(0)
    private let handshakesResumedCounter = Atomic<Int>(0)
    private let handshakesFailedCounter = Atomic<Int>(0)

    init() {}

    /// The total number of accepted connections.
    package var connectionsAccepted: Int { connectionsAcceptedCounter.load(ordering: .relaxed) }
    /// The number of open connections.
    package var connectionsOpen: Int { connectionsOpenCounter.load(ordering: .relaxed) }
    /// The number of requests with a valid head.
    package var requests: Int { requestsCounter.load(ordering: .relaxed) }
    /// The number of bytes received on all connections; over TLS, of decrypted bytes.
    package var bytesReceived: Int { bytesReceivedCounter.load(ordering: .relaxed) }
    /// The number of bytes sent on all connections; over TLS, of bytes before encryption.
    package var bytesSent: Int { bytesSentCounter.load(ordering: .relaxed) }

    /// The number of completed TLS handshakes.
    package var handshakesCompleted: Int { handshakesCompletedCounter.load(ordering: .relaxed) }
    /// The number of completed TLS handshakes that resumed a session.
    package var handshakesResumed: Int { handshakesResumedCounter.load(ordering: .relaxed) }
    /// The number of TLS handshakes that failed, or during which the connection was closed.
    package var handshakesFailed: Int { handshakesFailedCounter.load(ordering: .relaxed) }

    /// Counts a new connection. Returns its number, from 0.
    func countOpened() -> Int {
        connectionsOpenCounter.add(1, ordering: .relaxed)
        return connectionsAcceptedCounter.add(1, ordering: .relaxed).oldValue
    }

    /// Counts the end of a connection.
    func countClosed() { connectionsOpenCounter.subtract(1, ordering: .relaxed) }

    /// Counts a request.
    func countRequest() { requestsCounter.add(1, ordering: .relaxed) }

    /// Counts a completed handshake.
    func countHandshake(isResumed: Bool) {
        handshakesCompletedCounter.add(1, ordering: .relaxed)
        if isResumed { handshakesResumedCounter.add(1, ordering: .relaxed) }
    }

    /// Counts a failed handshake.
    func countFailedHandshake() { handshakesFailedCounter.add(1, ordering: .relaxed) }

    /// Counts received bytes.
    func add(received count: Int) { bytesReceivedCounter.add(count, ordering: .relaxed) }

    /// Counts sent bytes.
    func add(sent count: Int) { bytesSentCounter.add(count, ordering: .relaxed) }
}
