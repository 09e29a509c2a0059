// SPDX-License-Identifier: MIT

internal import Synchronization

/// Calls a closure after a number of arrivals. Any thread may use it.
final class CountDown: Sendable {
    private let left: Atomic<Int>
    private let done: @Sendable () -> Void

    /// Creates a countdown that calls `done` after `count` arrivals, at least one.
    init(_ count: Int, _ done: @escaping @Sendable () -> Void) {
        left = Atomic(count)
        self.done = done
    }

    func arrive() {
        if left.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { done() }
    }
}
