// SPDX-License-Identifier: MIT

internal import LupineTransport

extension URLSession {
    /// One of the session's event loops, as an executor of Swift tasks: another one at each call, in turn. For programs whose tasks
    /// never block. Requests of such a task prefer connections of its loop.
    ///
    /// It keeps neither the session nor a thread: once the loop has ended, tasks run on Swift's global executor, as they do where
    /// the system gives no loop.
    public var executor: any TaskExecutor { core.context.engine.executor ?? globalConcurrentExecutor }
}
