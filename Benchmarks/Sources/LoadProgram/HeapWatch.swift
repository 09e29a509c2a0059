// SPDX-License-Identifier: MIT
internal import CBenchmarkCounters
internal import Synchronization

/// Reads every five milliseconds how much of the heap is in use, and keeps the most: for what requests hold while they are in
/// flight, which is gone when they have ended.
package final class HeapWatch: Sendable {
    private let most = Atomic<UInt64>(0)
    private let isOver = Atomic<Bool>(false)

    package init() {
        most.store(heap_in_use(), ordering: .relaxed)
        Task.detached { [self] in
            while !isOver.load(ordering: .acquiring) {
                look()
                try? await Task.sleep(for: .milliseconds(5))
            }
        }
    }

    /// Ends it, and returns the most that was in use.
    package func stop() -> UInt64 {
        isOver.store(true, ordering: .releasing)
        return most.load(ordering: .relaxed)
    }

    private func look() {
        let now = heap_in_use()
        most.max(now, ordering: .relaxed)
    }
}
