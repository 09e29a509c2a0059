// SPDX-License-Identifier: MIT

internal import Synchronization

/// Calls back when a number of things have happened. Any thread.
final class CountDown: Sendable {
    private let left: Atomic<Int>
    private let done: @Sendable () -> Void

    /// `count` arrivals, at least one, until `done` is called.
    init(_ count: Int, _ done: @escaping @Sendable () -> Void) {
        left = Atomic(count)
        self.done = done
    }

    func arrive() {
        if left.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { done() }
    }
}
