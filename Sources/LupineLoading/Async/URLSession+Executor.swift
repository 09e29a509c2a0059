// SPDX-License-Identifier: MIT

internal import LupineTransport

extension URLSession {
    /// One of the session's event loops, as an executor of Swift tasks; each call returns the next one in turn. For programs
    /// whose tasks never block. Requests that are made in such a task prefer connections of its loop.
    ///
    /// The executor retains neither the session nor a thread: once the loop has ended, tasks run on Swift's global executor,
    /// which is also returned if the system provides no loop.
    public var executor: any TaskExecutor { core.context.engine.executor ?? globalConcurrentExecutor }
}
