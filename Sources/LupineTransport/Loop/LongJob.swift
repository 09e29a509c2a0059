// SPDX-License-Identifier: MIT

/// A job of a Swift task that has held up its loop: debug builds say so, once for each loop.
struct LongJob {
    /// A job that ran longer has held up the connections of its loop for too long.
    static let limit = Interval.milliseconds(50)

    /// The job, as Swift describes it.
    let job: String
    /// The loop's thread.
    let thread: String
    /// How long it ran.
    let length: Interval

    /// The job, if it has run for too long.
    init?(_ job: String, on thread: String, for length: Interval) {
        guard length > Self.limit else { return nil }
        self.job = job
        self.thread = thread
        self.length = length
    }

    /// What is written to standard error: one line.
    var warning: String {
        "lupine: \(job) ran for \(length.nanoseconds / 1_000_000) ms on the event loop \(thread), whose connections waited "
            + "meanwhile. Code on an executor of Lupine's must not block: run what blocks or computes for long in a task without "
            + "this executor (Task.detached, executorPreference: globalConcurrentExecutor) or on an actor with an executor of its "
            + "own. This is said once for each loop, in debug builds only.\n"
    }
}
