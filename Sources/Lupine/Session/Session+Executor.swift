// SPDX-License-Identifier: MIT

internal import LupineLoading

extension Session {
    /// One of the session's event loops, as an executor of Swift tasks. Each read returns the next loop in rotation. Use the
    /// executor only for tasks that never block. Requests of such a task prefer connections of the task's loop.
    ///
    ///     let size = try await Task(executorPreference: session.executor) {
    ///         try await session.request(url).serializingData().value.count
    ///     }.value
    ///
    /// The executor retains neither the session nor a thread. Once the loop has ended, or if the loop could not be created, its
    /// tasks run on Swift's global executor.
    public var executor: any TaskExecutor { session.executor }
}
