// SPDX-License-Identifier: MIT

internal import LupineLoading

extension Session {
    /// One of the session's event loops, as an executor of Swift tasks; each read returns the next loop in rotation. Use it only
    /// for tasks that never block. Requests of such a task prefer connections of the task's loop.
    ///
    ///     let size = try await Task(executorPreference: session.executor) {
    ///         try await session.request(url).serializingData().value.count
    ///     }.value
    ///
    /// The executor retains neither the session nor a thread: once the loop has ended, or if the system provided no loop, its
    /// tasks run on Swift's global executor.
    public var executor: any TaskExecutor { session.executor }
}
