// SPDX-License-Identifier: MIT

/// Jobs of Swift tasks that wait for their loop, in the order in which they came. It belongs to its loop.
struct JobQueue {
    private var jobs: [UnownedJob] = []
    private var head = 0

    /// A flood of jobs does not keep its room for ever.
    private static let keptRoom = 4096

    var count: Int { jobs.count - head }
    var isEmpty: Bool { head == jobs.count }

    /// Adds a job behind all others.
    mutating func append(_ job: UnownedJob) { jobs.append(job) }

    /// Adds jobs behind all others, and leaves `other` empty, with its room.
    mutating func append(taking other: inout [UnownedJob]) {
        if isEmpty {
            clear()
            swap(&jobs, &other)
        } else {
            jobs.append(contentsOf: other)
            other.removeAll(keepingCapacity: other.count <= Self.keptRoom)
        }
    }

    /// Takes out the job that has waited longest.
    mutating func next() -> UnownedJob? {
        guard head < jobs.count else { return nil }
        let job = jobs[head]
        head += 1
        if head == jobs.count {
            clear()
        } else if head > 64, head * 2 > jobs.count {
            jobs.removeFirst(head)
            head = 0
        }
        return job
    }

    private mutating func clear() {
        jobs.removeAll(keepingCapacity: jobs.count <= Self.keptRoom)
        head = 0
    }
}
