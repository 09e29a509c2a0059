// SPDX-License-Identifier: MIT

internal import Synchronization

/// What an origin has done so far, to be read by tests at any moment. Any thread.
package final class OriginCounts: Sendable {
    private let accepted = Atomic<Int>(0)
    private let open = Atomic<Int>(0)
    private let understood = Atomic<Int>(0)
    private let received = Atomic<Int>(0)
    private let sent = Atomic<Int>(0)
    private let completed = Atomic<Int>(0)
    private let resumed = Atomic<Int>(0)
    private let failed = Atomic<Int>(0)

    init() {}

    /// Connections that were accepted, all in all.
    package var connectionsAccepted: Int { accepted.load(ordering: .relaxed) }
    /// Connections that are open.
    package var connectionsOpen: Int { open.load(ordering: .relaxed) }
    /// Requests whose head was understood.
    package var requests: Int { understood.load(ordering: .relaxed) }
    /// Bytes of content that came, on all connections.
    package var bytesReceived: Int { received.load(ordering: .relaxed) }
    /// Bytes of content that were sent, on all connections.
    package var bytesSent: Int { sent.load(ordering: .relaxed) }

    /// TLS handshakes that came to their end, all in all.
    package var handshakesCompleted: Int { completed.load(ordering: .relaxed) }
    /// Those among the completed that resumed a session.
    package var handshakesResumed: Int { resumed.load(ordering: .relaxed) }
    /// TLS handshakes that failed, or that the client gave up.
    package var handshakesFailed: Int { failed.load(ordering: .relaxed) }

    /// One connection more; gives its number, from 0.
    func opened() -> Int {
        open.add(1, ordering: .relaxed)
        return accepted.add(1, ordering: .relaxed).oldValue
    }

    /// One connection less.
    func closed() { open.subtract(1, ordering: .relaxed) }

    /// One request more.
    func begun() { understood.add(1, ordering: .relaxed) }

    /// One handshake has come to its end.
    func established(isResumed: Bool) {
        completed.add(1, ordering: .relaxed)
        if isResumed { resumed.add(1, ordering: .relaxed) }
    }

    /// One handshake has not.
    func refused() { failed.add(1, ordering: .relaxed) }

    func add(received count: Int) { received.add(count, ordering: .relaxed) }

    func add(sent count: Int) { sent.add(count, ordering: .relaxed) }
}
