// SPDX-License-Identifier: MIT

internal import Synchronization

/// How far one dial has come: what the idle time of an exchange that waits for it is counted from.
///
/// The dial's loop writes, whoever watches an exchange reads. A connection that stands and each step of TLS or of a
/// proxy's conversation count as progress; an answer of the resolver's does not.
final class DialProgress: Sendable {
    /// Where the dial leads.
    let origin: Origin
    private let nanoseconds: Atomic<Int64>
    private let asking = Atomic<Bool>(false)

    /// A dial that begins now.
    init(to origin: Origin, at now: Instant) {
        self.origin = origin
        nanoseconds = Atomic(now.nanoseconds)
    }

    /// Something has come of it.
    func step(at now: Instant) {
        nanoseconds.store(now.nanoseconds, ordering: .relaxed)
        asking.store(false, ordering: .relaxed)
    }

    /// It waits for somebody's word, who may take any time: a verdict about the peer, our own identity. A step ends that.
    func asks() { asking.store(true, ordering: .relaxed) }

    /// Whether it waits for somebody's word.
    var isAsking: Bool { asking.load(ordering: .relaxed) }

    /// When something last came of it; at first, when it was decided.
    var latest: Instant { Instant(nanoseconds: nanoseconds.load(ordering: .relaxed)) }
}
