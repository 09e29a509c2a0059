// SPDX-License-Identifier: MIT

internal import Synchronization

/// Measures whether a loop is busy, for choosing the loop of a new connection.
///
/// The loop reports when it starts and stops waiting; any thread may ask whether it is busy. Time is measured in windows: a loop
/// is busy if it worked for more than half of the last complete window, unless it has since been waiting for a whole window.
final class LoopActivity: Sendable {
    /// The length of a window in nanoseconds: long enough for many turns of a working loop, short enough to notice a change soon.
    static let windowLength = Int64(5_000_000)

    /// Whether the loop worked for more than half of the last complete window.
    private let wasBusy = Atomic<Bool>(false)
    /// When the current wait began, in nanoseconds; `awake` while the loop works.
    private let waitingSince: Atomic<Int64>
    /// The value of `waitingSince` while the loop works.
    private static let awake = Int64.max

    /// The time at which the current window began, in nanoseconds. Like `waitTime`, used by the loop's thread only, and atomic
    /// only because the class is `Sendable`.
    private let windowStart: Atomic<Int64>
    /// How long the loop has waited in this window, in nanoseconds.
    private let waitTime = Atomic<Int64>(0)

    init(now: Instant) {
        waitingSince = Atomic(now.nanoseconds)
        windowStart = Atomic(now.nanoseconds)
    }

    /// Called by the loop before it waits.
    func willWait(at now: Instant) { waitingSince.store(now.nanoseconds, ordering: .relaxed) }

    /// Called by the loop after it has waited.
    func didWait(at now: Instant) {
        let since = waitingSince.load(ordering: .relaxed)
        waitingSince.store(Self.awake, ordering: .relaxed)
        let newWaitTime = waitTime.load(ordering: .relaxed) &+ (now.nanoseconds &- since)
        let length = now.nanoseconds &- windowStart.load(ordering: .relaxed)
        guard length >= Self.windowLength else {
            waitTime.store(newWaitTime, ordering: .relaxed)
            return
        }
        // The window is complete, and the next one begins. A loop that waited for less than half of it was busy.
        wasBusy.store(newWaitTime < length / 2, ordering: .relaxed)
        windowStart.store(now.nanoseconds, ordering: .relaxed)
        waitTime.store(0, ordering: .relaxed)
    }

    /// Whether the loop is busy. Any thread may call.
    func isBusy(at now: Instant) -> Bool {
        guard wasBusy.load(ordering: .relaxed) else { return false }
        let since = waitingSince.load(ordering: .relaxed)
        return since == Self.awake || now.nanoseconds &- since < Self.windowLength
    }
}
