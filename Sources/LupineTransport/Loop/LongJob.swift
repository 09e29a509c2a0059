// SPDX-License-Identifier: MIT

/// A report on a job of a Swift task that has blocked its loop for too long. Debug builds write one report for each loop.
struct LongJob {
    /// The longest time for which a job may block the connections of its loop.
    static let limit = Interval.milliseconds(50)

    /// The job, as Swift describes it.
    let job: String
    /// The name of the loop's thread.
    let thread: String
    /// How long it ran.
    let length: Interval

    /// Creates a report if the job has run for too long; nil otherwise.
    init?(_ job: String, on thread: String, for length: Interval) {
        guard length > Self.limit else { return nil }
        self.job = job
        self.thread = thread
        self.length = length
    }

    /// The text for standard error: one line.
    var warning: String {
        "lupine: \(job) ran for \(length.nanoseconds / 1_000_000) ms on the event loop \(thread), whose connections waited "
            + "meanwhile. Code on an executor of Lupine's must not block: run what blocks or computes for long in a task without "
            + "this executor (Task.detached, executorPreference: globalConcurrentExecutor) or on an actor with an executor of its "
            + "own. This is said once for each loop, in debug builds only.\n"
    }
}
