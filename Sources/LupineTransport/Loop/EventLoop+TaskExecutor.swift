// SPDX-License-Identifier: MIT

/// A loop runs jobs of the program's Swift tasks. They run in the order in which they were enqueued, after the events of a turn,
/// and never inside a read or a callback of a connection.
///
/// A turn runs the jobs that were enqueued when its events had been handled, for at most 5 ms. The remaining jobs, and those that
/// the jobs enqueue, wait for the next turn. So neither jobs nor events starve the other. Every job runs once: the jobs of a loop
/// that is ending or has ended run on Swift's global executor. A program that retains a loop as an executor does not keep the
/// loop's thread or descriptors.
extension EventLoop: TaskExecutor {
    /// Enqueues a job. Any thread may call.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if isOnLoop ? enqueueOnLoop(job) : submit(job) { return }
        Self.runElsewhere(job)
    }

    /// Runs a job on Swift's global executor, because its loop no longer can.
    static func runElsewhere(_ job: UnownedJob) { globalConcurrentExecutor.enqueue(ExecutorJob(job)) }
}
