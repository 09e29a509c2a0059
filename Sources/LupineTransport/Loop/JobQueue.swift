// SPDX-License-Identifier: MIT

/// Jobs of Swift tasks that wait for their loop, first in, first out. Confined to its loop.
struct JobQueue {
    private var jobs: [UnownedJob] = []
    /// The index of the first job that waits; those before it have been removed.
    private var head = 0

    /// The number of jobs up to which an emptied queue keeps its memory.
    private static let keptCapacity = 4096

    var count: Int { jobs.count - head }
    var isEmpty: Bool { head == jobs.count }

    /// Appends a job.
    mutating func append(_ job: UnownedJob) { jobs.append(job) }

    /// Moves the jobs of `other` to the end of this queue. `other` keeps its capacity, or gets that of this queue.
    mutating func append(movingFrom other: inout [UnownedJob]) {
        if isEmpty {
            clear()
            swap(&jobs, &other)
        } else {
            jobs.append(contentsOf: other)
            other.removeAll(keepingCapacity: other.count <= Self.keptCapacity)
        }
    }

    /// Removes and returns the job that has waited longest.
    mutating func popFirst() -> UnownedJob? {
        guard head < jobs.count else { return nil }
        let job = jobs[head]
        head += 1
        if head == jobs.count {
            clear()
        } else if head > 64, head * 2 > jobs.count {
            // More than half of the array is unused. Fewer jobs are moved now than were removed since the last time.
            jobs.removeFirst(head)
            head = 0
        }
        return job
    }

    private mutating func clear() {
        jobs.removeAll(keepingCapacity: jobs.count <= Self.keptCapacity)
        head = 0
    }
}
