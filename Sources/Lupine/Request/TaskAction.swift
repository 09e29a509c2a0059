// SPDX-License-Identifier: MIT

internal import LupineLoading

/// What a request does to its task, or tells of it, in the order in which that was decided: see `OrderedActions`.
enum TaskAction: Sendable {
    case resume(URLSessionTask)
    case suspend(URLSessionTask)
    /// A task that was never resumed would not tell its end (T-4), so it is resumed first.
    case end(URLSessionTask, by: @Sendable (URLSessionTask) -> Void)
    /// A handler is handed what was made for the request.
    case tell(Request.Job)

    /// Does it. Not under a lock: a task may ask the program's code (`URLProtocol.canInit`) before it returns.
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
