// SPDX-License-Identifier: MIT

internal import Synchronization

/// The progress of one dial, from which the idle time of an exchange that waits for it is counted.
///
/// The dial writes it on its loop; `Exchange` reads it through the pool on any loop. An established connection and
/// each step of a TLS or proxy handshake count as progress; an answer of the resolver does not.
final class DialProgress: Sendable {
    /// The origin that is dialed.
    let origin: Origin
    /// The value of `latest`.
    private let nanoseconds: Atomic<Int64>
    private let awaitsProgram = Atomic<Bool>(false)

    /// Creates the progress of a dial that starts now.
    init(to origin: Origin, at now: Instant) {
        self.origin = origin
        nanoseconds = Atomic(now.nanoseconds)
    }

    /// Records progress.
    func step(at now: Instant) {
        nanoseconds.store(now.nanoseconds, ordering: .relaxed)
        awaitsProgram.store(false, ordering: .relaxed)
    }

    /// Records that the dial waits for the program, which may take any time to accept the peer or to choose a client certificate.
    /// The next `step(at:)` ends the wait.
    func awaitProgram() { awaitsProgram.store(true, ordering: .relaxed) }

    /// Whether the dial waits for an answer of the program.
    var isAwaitingProgram: Bool { awaitsProgram.load(ordering: .relaxed) }

    /// The time of the latest progress; before the first step, the time at which the machine decided to dial.
    var latest: Instant { Instant(nanoseconds: nanoseconds.load(ordering: .relaxed)) }
}
