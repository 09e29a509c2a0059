// SPDX-License-Identifier: MIT

/// A loop runs Swift tasks of the program between its events: jobs run after the events of a turn, never inside a read or a
/// callback of a connection, in the order in which they were enqueued.
///
/// A turn runs the jobs that wait when it gets to them, and stops after 5 ms; the rest, and the jobs that these enqueue, wait for
/// the next turn, after its events. So neither starves the other. Every job runs once: the jobs of a loop that is ending or has
/// ended run on Swift's global executor. Retaining a loop as an executor keeps no thread and no descriptor.
extension EventLoop: TaskExecutor {
    /// Enqueues a job. Any thread may call.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if isOnLoop ? keep(job) : submit(job) { return }
        Self.runElsewhere(job)
    }

    /// Runs a job on Swift's global executor, because its loop no longer can.
    static func runElsewhere(_ job: UnownedJob) { globalConcurrentExecutor.enqueue(ExecutorJob(job)) }
}
