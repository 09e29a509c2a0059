// SPDX-License-Identifier: MIT

internal import LupineTransport

extension URLSession {
    /// An executor that runs Swift tasks on one of the session's event loops; each access returns the next loop in turn. The
    /// tasks must never block. Requests that such a task makes prefer connections of its loop.
    ///
    /// The executor retains neither the session nor a thread: when the loop has ended, tasks run on Swift's global executor,
    /// which is also returned if the system cannot create an event loop.
    public var executor: any TaskExecutor { core.context.engine.executor ?? globalConcurrentExecutor }
}
