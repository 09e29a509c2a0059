// SPDX-License-Identifier: MIT

/// Jobs of Swift tasks that wait for their loop, first in, first out. Confined to its loop.
struct JobQueue {
    private var jobs: [UnownedJob] = []
    /// The index of the first job that waits; those before it have been removed.
    private var head = 0

    /// The number of jobs up to which an emptied queue keeps its memory.
    private static let maxRetainedCount = 4096
    /// The number of removed jobs up to which the array is not compacted.
    private static let minCompactedCount = 64

    /// The number of waiting jobs.
    var count: Int { jobs.count - head }
    var isEmpty: Bool { head == jobs.count }

    /// Appends a job.
    mutating func append(_ job: UnownedJob) { jobs.append(job) }

    /// Moves the jobs of `other` to the end of this queue, which empties `other`. If this queue is empty, the arrays are swapped.
    mutating func append(movingFrom other: inout [UnownedJob]) {
        if isEmpty {
            clear()
            swap(&jobs, &other)
        } else {
            jobs.append(contentsOf: other)
            other.removeAll(keepingCapacity: other.count <= Self.maxRetainedCount)
        }
    }

    /// Removes and returns the job that has waited longest.
    mutating func popFirst() -> UnownedJob? {
        guard head < jobs.count else { return nil }
        let job = jobs[head]
        head += 1
        if head == jobs.count {
            clear()
        } else if head > Self.minCompactedCount, head * 2 > jobs.count {
            // More than half of the array is unused. Compacting moves fewer jobs than were removed since the last time.
            jobs.removeFirst(head)
            head = 0
        }
        return job
    }

    /// Empties the array of a queue without waiting jobs.
    private mutating func clear() {
        jobs.removeAll(keepingCapacity: jobs.count <= Self.maxRetainedCount)
        head = 0
    }
}
