// SPDX-License-Identifier: MIT

internal import Synchronization

/// The progress of one dial, from which the idle time of an exchange that waits for it is counted.
///
/// Written on the dial's loop, read by the watch of an exchange. An established connection and each step of TLS or of a proxy's
/// handshake count as progress; an answer of the resolver does not.
final class DialProgress: Sendable {
    /// The origin that is dialed.
    let origin: Origin
    private let nanoseconds: Atomic<Int64>
    private let awaitsProgram = Atomic<Bool>(false)

    /// A dial that starts now.
    init(to origin: Origin, at now: Instant) {
        self.origin = origin
        nanoseconds = Atomic(now.nanoseconds)
    }

    /// Records progress.
    func step(at now: Instant) {
        nanoseconds.store(now.nanoseconds, ordering: .relaxed)
        awaitsProgram.store(false, ordering: .relaxed)
    }

    /// Records that the dial waits for an answer of the program, which may take any time: a verdict on the peer, or a client
    /// certificate. The next `step(at:)` ends the wait.
    func awaitProgram() { awaitsProgram.store(true, ordering: .relaxed) }

    /// Whether the dial waits for an answer of the program.
    var isAwaitingProgram: Bool { awaitsProgram.load(ordering: .relaxed) }

    /// The time of the latest progress; at first, the time at which the dial was decided on.
    var latest: Instant { Instant(nanoseconds: nanoseconds.load(ordering: .relaxed)) }
}
