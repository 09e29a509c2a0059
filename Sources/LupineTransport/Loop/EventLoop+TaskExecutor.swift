// SPDX-License-Identifier: MIT

/// A loop runs Swift tasks of the program's between its events: jobs come after what a turn has brought, never inside a read or a
/// callback of a connection, in the order in which they were enqueued.
///
/// A turn runs the jobs that waited when it came to them, and stops after 5 ms; what is left, and what these jobs enqueue, waits for
/// the next turn, behind its events. So neither keeps the other from its turn. Every job runs, once: those of a loop that is ending
/// or has ended run on Swift's global executor. Whoever keeps a loop as an executor keeps no thread and no descriptor.
extension EventLoop: TaskExecutor {
    /// Takes a job. Any thread.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if isOnLoop ? keep(job) : submit(job) { return }
        Self.runElsewhere(job)
    }

    /// Has Swift's global executor run a job that a loop can run no more.
    static func runElsewhere(_ job: UnownedJob) { globalConcurrentExecutor.enqueue(ExecutorJob(job)) }
}
