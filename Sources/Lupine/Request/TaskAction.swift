// SPDX-License-Identifier: MIT

internal import LupineLoading

/// An action that a request performs on its task, or a call of a handler that receives a request or a task. `OrderedActions`
/// keeps them in order.
enum TaskAction: Sendable {
    case resume(URLSessionTask)
    case suspend(URLSessionTask)
    /// Resumes the task, because a task that was never resumed would not report its end (T-4), then calls the closure, which
    /// cancels the task.
    case end(URLSessionTask, by: @Sendable (URLSessionTask) -> Void)
    /// Runs the job, which calls a handler.
    case callHandler(Request.Job)

    /// Performs the action. No lock may be held: the task may call the program's code (`URLProtocol.canInit`) before it returns.
    func perform() {
        assertNoLockIsHeld()
        switch self {
        case .resume(let task): task.resume()
        case .suspend(let task): task.suspend()
        case .end(let task, let end):
            task.resume()
            end(task)
        case .callHandler(let job): job.run()
        }
    }
}
