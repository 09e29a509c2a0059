// SPDX-License-Identifier: MIT

internal import LupineLoading

extension Session {
    /// Returns one of the session's event loops, in rotation, as an executor of Swift tasks. For programs whose tasks never
    /// block. Requests of such a task prefer connections of its loop.
    ///
    ///     let size = try await Task(executorPreference: session.executor) {
    ///         try await session.request(url).serializingData().value.count
    ///     }.value
    ///
    /// It retains neither the session nor a thread: once the loop has ended, tasks run on Swift's global executor, as they do
    /// where the system provides no loop.
    public var executor: any TaskExecutor { session.executor }
}
