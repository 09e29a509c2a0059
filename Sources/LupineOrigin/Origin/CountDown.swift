// SPDX-License-Identifier: MIT

internal import Synchronization

/// Calls a closure when `arrive` has been called a number of times. Any thread may use it.
final class CountDown: Sendable {
    private let remainingCount: Atomic<Int>
    private let whenDone: @Sendable () -> Void

    /// Creates a countdown that calls `whenDone` after `count` arrivals. `count` must be at least 1.
    init(_ count: Int, _ whenDone: @escaping @Sendable () -> Void) {
        remainingCount = Atomic(count)
        self.whenDone = whenDone
    }

    /// Counts one arrival. The last one calls the closure, on the calling thread.
    func arrive() {
        // The ordering makes the work before each arrival visible to `whenDone`.
        if remainingCount.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { whenDone() }
    }
}
