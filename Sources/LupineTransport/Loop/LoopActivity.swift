// SPDX-License-Identifier: MIT

internal import Synchronization

/// How much of its time a loop works, as far as the choice of a loop for a new connection has to know.
///
/// The loop tells when it begins to wait and when it goes on; any thread asks whether it is busy. Time is counted in
/// windows: a loop is busy when it worked for more than half of its last whole window, and has not been waiting for as long
/// as one ever since.
final class LoopActivity: Sendable {
    /// In nanoseconds: long enough for many turns of a loop that works, short enough to notice that it does.
    static let windowLength = Int64(5_000_000)

    private let wasBusy = Atomic<Bool>(false)
    /// When the present wait began, in nanoseconds; `awake` while it works.
    private let waitingSince: Atomic<Int64>
    private static let awake = Int64.max

    // Of the loop's thread alone.
    private let windowBegan: Atomic<Int64>
    private let waited = Atomic<Int64>(0)

    init(now: Instant) {
        waitingSince = Atomic(now.nanoseconds)
        windowBegan = Atomic(now.nanoseconds)
    }

    /// By the loop: it has nothing to do from `now` on.
    func beginsToWait(at now: Instant) { waitingSince.store(now.nanoseconds, ordering: .relaxed) }

    /// By the loop: it goes on.
    func goesOn(at now: Instant) {
        let since = waitingSince.load(ordering: .relaxed)
        waitingSince.store(Self.awake, ordering: .relaxed)
        let waited = self.waited.load(ordering: .relaxed) &+ (now.nanoseconds &- since)
        let length = now.nanoseconds &- windowBegan.load(ordering: .relaxed)
        guard length >= Self.windowLength else {
            self.waited.store(waited, ordering: .relaxed)
            return
        }
        wasBusy.store(waited < length / 2, ordering: .relaxed)
        windowBegan.store(now.nanoseconds, ordering: .relaxed)
        self.waited.store(0, ordering: .relaxed)
    }

    /// Whether it has more to do than waiting. Any thread.
    func isBusy(at now: Instant) -> Bool {
        guard wasBusy.load(ordering: .relaxed) else { return false }
        let since = waitingSince.load(ordering: .relaxed)
        return since == Self.awake || now.nanoseconds &- since < Self.windowLength
    }
}
