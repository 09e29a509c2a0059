// SPDX-License-Identifier: MIT

internal import LupineLoading

/// An action that a request performs on its task, or a call of a handler that receives a request or a task. `OrderedActions`
/// keeps the actions of a request in order.
enum TaskAction: Sendable {
    case resume(URLSessionTask)
    case suspend(URLSessionTask)
    /// Resumes the task, then calls the closure, which cancels it. A task that was never resumed would not report its end (T-4).
    case cancel(URLSessionTask, by: @Sendable (URLSessionTask) -> Void)
    /// Runs the job, which enqueues a call of a handler on the handler's queue.
    case callHandler(Request.Job)

    /// Performs the action. The caller must not hold a lock, because the task may call the program's code, such as
    /// `URLProtocol.canInit`.
    func perform() {
        assertNoLockIsHeld()
        switch self {
        case .resume(let task): task.resume()
        case .suspend(let task): task.suspend()
        case .cancel(let task, let cancelTask):
            task.resume()
            cancelTask(task)
        case .callHandler(let job): job.run()
        }
    }
}
