// SPDX-License-Identifier: MIT

/// A loop runs jobs of the program's Swift tasks, in the order in which they were enqueued. Jobs run after the events of a turn
/// (one pass of the loop), and never inside a read or a callback of a connection.
///
/// A turn first handles its events. It then runs the jobs that are enqueued at that time, for at most 5 ms. The remaining jobs,
/// and those that the jobs enqueue, wait for the next turn. So jobs do not starve events, and events do not starve jobs.
///
/// Every job runs once: the jobs of a loop that is ending or has ended run on Swift's global executor. If a program retains a
/// loop as an executor, the loop's thread and descriptors can still be released.
extension EventLoop: TaskExecutor {
    /// Enqueues a job. Any thread may call.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isAccepted = isOnLoop ? enqueueOnLoop(job) : submit(job)
        if !isAccepted { Self.runOnGlobalExecutor(job) }
    }

    /// Runs a job on Swift's global executor, because its loop is ending or has ended.
    static func runOnGlobalExecutor(_ job: UnownedJob) { globalConcurrentExecutor.enqueue(ExecutorJob(job)) }
}
