// SPDX-License-Identifier: MIT

internal import Synchronization

/// The time of the latest progress of one dial. The idle time-out of an exchange that waits for the dial starts at that time.
///
/// The dial, which opens one connection, writes the time on its loop; `Exchange.runWaitTimeouts` reads it through the pool on any
/// loop. An established connection counts as progress, and so does each part of a TLS or proxy handshake. An answer of the
/// resolver does not.
///
/// Relaxed memory ordering suffices, because no other memory depends on these values.
final class DialProgress: Sendable {
    /// The origin that is dialed.
    let origin: Origin
    /// The instant `latest`, in nanoseconds.
    private let nanoseconds: Atomic<Int64>
    /// The value of `isAwaitingProgram`.
    private let awaitsProgram = Atomic<Bool>(false)

    /// Creates the progress of a dial that starts now.
    init(to origin: Origin, at now: Instant) {
        self.origin = origin
        nanoseconds = Atomic(now.nanoseconds)
    }

    /// Records that the dial has made progress.
    func recordStep(at now: Instant) {
        nanoseconds.store(now.nanoseconds, ordering: .relaxed)
        awaitsProgram.store(false, ordering: .relaxed)
    }

    /// Records that the dial waits for the program, which may take any time to accept the peer or to choose a client certificate.
    /// The next `recordStep(at:)` ends the wait.
    func awaitProgram() { awaitsProgram.store(true, ordering: .relaxed) }

    /// Whether the dial waits for an answer of the program.
    var isAwaitingProgram: Bool { awaitsProgram.load(ordering: .relaxed) }

    /// The time of the latest progress; before any progress, the time at which the pool decided to dial.
    var latest: Instant { Instant(nanoseconds: nanoseconds.load(ordering: .relaxed)) }
}
