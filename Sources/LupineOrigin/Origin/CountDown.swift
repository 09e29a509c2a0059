// SPDX-License-Identifier: MIT

internal import Synchronization

/// Calls a closure when a number of arrivals have been counted. Any thread may use it.
final class CountDown: Sendable {
    private let remaining: Atomic<Int>
    private let whenDone: @Sendable () -> Void

    /// Creates a countdown that calls `whenDone` after `count` arrivals, at least one.
    init(_ count: Int, _ whenDone: @escaping @Sendable () -> Void) {
        remaining = Atomic(count)
        self.whenDone = whenDone
    }

    /// Counts one arrival, and calls the closure if it is the last one.
    func arrive() {
        if remaining.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { whenDone() }
    }
}
