// SPDX-License-Identifier: MIT

internal import Synchronization

/// Calls back after a number of arrivals. Any thread.
final class CountDown: Sendable {
    private let left: Atomic<Int>
    private let done: @Sendable () -> Void

    /// Calls `done` on the thread of the last of `count` arrivals, at least one.
    init(_ count: Int, _ done: @escaping @Sendable () -> Void) {
        left = Atomic(count)
        self.done = done
    }

    func arrive() {
        if left.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { done() }
    }
}
