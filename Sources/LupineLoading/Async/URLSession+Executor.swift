// SPDX-License-Identifier: MIT

internal import LupineTransport

extension URLSession {
    /// An executor that runs Swift tasks on one of the session's event loops; each access chooses the next of the loops. The
    /// tasks must never block. Requests that a task makes on this executor prefer connections of its loop.
    ///
    /// The executor does not keep the session or its event loop alive. When the loop has ended, tasks run on Swift's global
    /// executor. If the system cannot create an event loop, this property returns the global executor.
    public var executor: any TaskExecutor { core.context.engine.executor ?? globalConcurrentExecutor }
}
