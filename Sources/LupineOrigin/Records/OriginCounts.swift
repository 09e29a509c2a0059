// SPDX-License-Identifier: MIT

internal import Synchronization

/// Counts the work of an origin. Tests may read the counts at any time, on any thread.
package final class OriginCounts: Sendable {
    private let accepted = Atomic<Int>(0)
    private let open = Atomic<Int>(0)
    private let parsed = Atomic<Int>(0)
    private let received = Atomic<Int>(0)
    private let sent = Atomic<Int>(0)
    private let completed = Atomic<Int>(0)
    private let resumed = Atomic<Int>(0)
    private let failed = Atomic<Int>(0)

    init() {}

    /// The total number of accepted connections.
    package var connectionsAccepted: Int { accepted.load(ordering: .relaxed) }
    /// The number of open connections.
    package var connectionsOpen: Int { open.load(ordering: .relaxed) }
    /// The number of requests with a valid head.
    package var requests: Int { parsed.load(ordering: .relaxed) }
    /// The number of bytes of content received on all connections.
    package var bytesReceived: Int { received.load(ordering: .relaxed) }
    /// The number of bytes of content sent on all connections.
    package var bytesSent: Int { sent.load(ordering: .relaxed) }

    /// The number of completed TLS handshakes.
    package var handshakesCompleted: Int { completed.load(ordering: .relaxed) }
    /// The number of completed TLS handshakes that resumed a session.
    package var handshakesResumed: Int { resumed.load(ordering: .relaxed) }
    /// The number of TLS handshakes that failed or were abandoned by the client.
    package var handshakesFailed: Int { failed.load(ordering: .relaxed) }

    /// Counts a new connection. Returns its number, from 0.
    func countOpened() -> Int {
        open.add(1, ordering: .relaxed)
        return accepted.add(1, ordering: .relaxed).oldValue
    }

    /// Counts the end of a connection.
    func countClosed() { open.subtract(1, ordering: .relaxed) }

    /// Counts a request.
    func countRequest() { parsed.add(1, ordering: .relaxed) }

    /// Counts a completed handshake.
    func countHandshake(isResumed: Bool) {
        completed.add(1, ordering: .relaxed)
        if isResumed { resumed.add(1, ordering: .relaxed) }
    }

    /// Counts a failed handshake.
    func countFailedHandshake() { failed.add(1, ordering: .relaxed) }

    /// Counts received bytes of content.
    func add(received count: Int) { received.add(count, ordering: .relaxed) }

    /// Counts sent bytes of content.
    func add(sent count: Int) { sent.add(count, ordering: .relaxed) }
}
