// SPDX-License-Identifier: MIT
internal import CBenchmarkCounters
internal import Synchronization

/// Samples the heap in use every five milliseconds, and keeps the maximum: it measures what requests in flight hold, which is
/// released when they end.
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

    /// Stops sampling, and returns the maximum.
    package func stop() -> UInt64 {
        isOver.store(true, ordering: .releasing)
        return most.load(ordering: .relaxed)
    }

    private func look() {
        let now = heap_in_use()
        most.max(now, ordering: .relaxed)
    }
}
