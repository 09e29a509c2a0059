// SPDX-License-Identifier: MIT

internal import LupineLoading

/// An action that a request performs on its task, or a handler call about it, in the order of the decisions: see
/// `OrderedActions`.
enum TaskAction: Sendable {
    case resume(URLSessionTask)
    case suspend(URLSessionTask)
    /// A task that was never resumed would not report its end (T-4), so it is resumed first.
    case end(URLSessionTask, by: @Sendable (URLSessionTask) -> Void)
    /// Calls a handler with what was created for the request.
    case tell(Request.Job)

    /// Performs the action. Not under a lock: a task may call the program's code (`URLProtocol.canInit`) before it returns.
    func perform() {
        assertNoLockIsHeld()
        switch self {
        case .resume(let task): task.resume()
        case .suspend(let task): task.suspend()
        case .end(let task, let end):
            task.resume()
            end(task)
        case .tell(let job): job.run()
        }
    }
}
