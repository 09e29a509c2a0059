// SPDX-License-Identifier: MIT
internal import CBenchmarkCounters
internal import Synchronization

/// Samples the heap in use every five milliseconds, and stores the maximum. It measures the memory of requests in flight, which
/// they release when they end.
package final class HeapWatch: Sendable {
    private let peak = Atomic<UInt64>(0)
    private let isOver = Atomic<Bool>(false)

    package init() {
        peak.store(heap_in_use(), ordering: .relaxed)
        Task.detached { [self] in
            while !isOver.load(ordering: .acquiring) {
                takeSample()
                try? await Task.sleep(for: .milliseconds(5))
            }
        }
    }

    /// Stops sampling, and returns the maximum.
    package func stop() -> UInt64 {
        isOver.store(true, ordering: .releasing)
        return peak.load(ordering: .relaxed)
    }

    private func takeSample() {
        let now = heap_in_use()
        peak.max(now, ordering: .relaxed)
    }
}
