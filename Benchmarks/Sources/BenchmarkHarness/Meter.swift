// SPDX-License-Identifier: MIT
internal import CBenchmarkCounters

/// Reads clocks and counters before and after a measured section and returns the difference as a sample.
///
/// `.thread` is for jobs that stay on the calling thread. `.process` covers all threads, but counts no instructions, because the
/// processor's counters are opened per thread.
struct Meter {
    enum Scope { case thread, process }

    private let scope: Scope
    private let wall: UInt64
    private let processor: UInt64
    private let heap: heap_totals
    private let counters: processor_totals?

    /// Starts measuring. The clocks are read last, so that reading the counters is not measured.
    init(_ scope: Scope) {
        self.scope = scope
        switch scope {
        case .thread:
            heap = heap_of_thread()
            counters = processor_counters_start() ? processor_counters_read() : nil
            processor = clock_thread_cpu()
        case .process:
            heap = heap_of_process()
            counters = nil
            processor = clock_process_cpu()
        }
        wall = clock_wall()
    }

    /// Returns the cost since `init`, for `count` runs of the job.
    func sample(count: Int) -> Sample {
        let wallNow = clock_wall()
        let processorNow: UInt64
        let heapNow: heap_totals
        switch scope {
        case .thread:
            processorNow = clock_thread_cpu()
            heapNow = heap_of_thread()
        case .process:
            processorNow = clock_process_cpu()
            heapNow = heap_of_process()
        }
        var sample = Sample(
            count: count, wall: Double(wallNow - wall), processor: Double(processorNow - processor))
        if heap_is_counted() {
            sample.allocations = Double(heapNow.requests - heap.requests)
            sample.allocatedBytes = Double(heapNow.bytes - heap.bytes)
        }
        if let counters {
            let now = processor_counters_read()
            sample.instructions = Double(now.instructions - counters.instructions)
            sample.cycles = Double(now.cycles - counters.cycles)
        }
        return sample
    }
}

/// Uses a result, so that the optimiser does not remove the work that produced it.
@inline(__always)
package func keep(_ value: Int) {
    keep_value(UInt64(truncatingIfNeeded: value))
}
