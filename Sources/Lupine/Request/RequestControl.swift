// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineLoading

/// The calls of `resume`, `suspend` and `cancel`, and their effects on the machine of a request, its task and its monitors.
///
/// The methods may be called on any thread. Each stores a report in `pendingReports` before it changes the task. A block on the
/// root queue runs the reports. If a task callback reaches the root queue sooner, it runs them first, so that the monitors
/// receive the report before the task's events.
///
/// The task is queried and changed outside of the lock, because it may call the program's code (O-6). The actions on the task
/// are enqueued under the lock: so the calls of two threads reach the task in the order in which the machine received them.
struct RequestControl: Sendable {
    private let request: Request

    init(of request: Request) { self.request = request }

    /// Starts or continues the request. Has no effect once the request was cancelled or has finished.
    func resume() {
        let (action, _, firstTaskAction) = sendToMachine(RequestMachine.Event.resume) { action, task, state in
            switch action {
            case .resumeTask:
                state.addReport { self.didResume(with: task) }
                return task.map { .resume($0) }
            case .prepareFirstAttempt, .accept: state.addReport { self.didResume(with: nil) }
            default: break
            }
            return nil
        }
        if action != .ignore { request.deliverPendingReportsOnRoot() }
        request.performTaskActions(from: firstTaskAction)
        if action == .prepareFirstAttempt { request.readyToPerform() }
    }

    /// Resumes the request after its first handler was added, if the request or else the session resumes automatically. Called in
    /// a step.
    func resumeIfAutomatic(in delegate: (any RequestDelegate)?) {
        if request.shouldAutomaticallyResume ?? delegate?.startImmediately ?? true {
            resumeInStep(in: delegate)
        }
    }

    /// Resumes the request. Because this is called in a step, the report need not be stored: it is made at once.
    private func resumeInStep(in delegate: (any RequestDelegate)?) {
        request.deliverPendingReports()
        let (action, task, firstTaskAction) = sendToMachine(RequestMachine.Event.resume) { action, task, _ in
            action == .resumeTask ? task.map { .resume($0) } : nil
        }
        request.performTaskActions(from: firstTaskAction)
        switch action {
        case .resumeTask: didResume(with: task)
        case .prepareFirstAttempt:
            didResume(with: nil)
            // `readyToPerform` would begin the attempt in another step, on the root queue.
            if let session = delegate as? Session {
                session.performInStep(request)
            } else {
                request.readyToPerform()
            }
        case .accept: didResume(with: nil)
        default: break
        }
    }

    /// Suspends the request: no bytes are transferred until `resume()`. Has no effect once the request was cancelled or has
    /// finished.
    func suspend() {
        let (action, _, firstTaskAction) = sendToMachine(RequestMachine.Event.suspend) {
            action, task, state in
            switch action {
            case .suspendTask:
                state.addReport {
                    self.didSuspend()
                    if let task { self.request.didSuspendTask(task) }
                }
                return task.map { .suspend($0) }
            case .accept: state.addReport { self.didSuspend() }
            default: break
            }
            return nil
        }
        if action != .ignore { request.deliverPendingReportsOnRoot() }
        request.performTaskActions(from: firstTaskAction)
    }

    /// Cancels the request, and its task if that has not completed.
    ///
    /// - Parameters:
    ///   - error: The error with which the request fails, unless it has failed before. Nil means that the cancellation is no
    ///     failure; an error that only says that the task was cancelled is then removed.
    ///   - reportsTask: Whether `didCancelTask` is reported with the cancellation. If false, `cancelTask` stores that report.
    ///   - cancelTask: Cancels the task.
    /// - Returns: The machine's action; `.ignore` if the request was cancelled before or has finished.
    @discardableResult
    func cancel(
        with error: AFError?, reportingTask reportsTask: Bool = true,
        cancellingTask cancelTask: @escaping @Sendable (URLSessionTask) -> Void = { $0.cancel() }
    ) -> RequestMachine.Action {
        let (action, _, firstTaskAction) = sendToMachine(RequestMachine.Event.cancel) { action, task, state in
            // The error is set together with the state, so that a thread that sees the cancellation also sees the error.
            if action != .ignore, state.error == nil { state.error = error }
            switch action {
            case .cancelTask:
                // Never nil: this action follows only the status of a live task.
                guard let task else { break }
                state.addReport {
                    self.didCancel(asFailure: error != nil)
                    if reportsTask { self.request.didCancelTask(task) }
                }
                return .cancel(task, by: cancelTask)
            case .cancelWithoutTask:
                state.addReport {
                    self.didCancel(asFailure: error != nil)
                    // Finishes the request, which has no task that would report its end.
                    self.request.pass.begin(on: .finishCancellation)
                }
            default: break
            }
            return nil
        }
        if action != .ignore { request.deliverPendingReportsOnRoot() }
        request.performTaskActions(from: firstTaskAction)
        return action
    }

    /// Passes an event to the machine, with the status of the latest task. Reads that status outside of the lock, and repeats if
    /// the request has another latest task by the time the lock is acquired.
    ///
    /// - Parameters:
    ///   - event: Returns the machine's event for the status of the task. An enum case such as `Event.resume` is such a function.
    ///   - taskAction: Called under the lock with the machine's action and the task. Stores a report, and returns the action on
    ///     the task, or nil.
    /// - Returns: The machine's action, the task, and the task action that the caller passes to
    ///   `performTaskActions`.
    private func sendToMachine(
        _ event: (RequestMachine.TaskStatus) -> RequestMachine.Event,
        taskAction: (RequestMachine.Action, URLSessionTask?, inout Request.MutableState) -> TaskAction?
    ) -> (action: RequestMachine.Action, task: URLSessionTask?, firstTaskAction: TaskAction?) {
        var examinedTask: URLSessionTask?
        while true {
            let status = RequestMachine.TaskStatus(examinedTask)
            let (action, task, firstTaskAction) = request.mutableState.write {
                state -> (action: RequestMachine.Action?, task: URLSessionTask?, firstTaskAction: TaskAction?)
                in
                let task = state.tasks.last
                guard task === examinedTask else { return (nil, task, nil) }
                let action = state.machine.receive(event(status))
                let enqueued = taskAction(action, task, &state).flatMap { state.taskActions.enqueue($0) }
                return (action, task, enqueued)
            }
            if let action { return (action, task, firstTaskAction) }
            examinedTask = task
        }
    }

    // MARK: reports to the monitors

    private func didResume(with task: URLSessionTask?) {
        request.report(.didResume, .resumed(request))
        if let task { request.didResumeTask(task) }
    }

    private func didSuspend() { request.report(.didSuspend, .suspended(request)) }

    /// Reports the cancellation. If `isFailure` is false, first removes an error that only says that the task was cancelled.
    private func didCancel(asFailure isFailure: Bool) {
        if !isFailure {
            // The removed error is returned so that it is released outside of the lock.
            _ = request.mutableState.write { state -> AFError? in
                guard case .sessionTaskFailed(let cause) = state.error,
                    (cause as? URLError)?.code == .cancelled
                else { return nil }
                return state.error.take()
            }
        }
        request.report(.didCancel, .cancelled(request))
    }
}

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

extension RequestMachine.TaskStatus {
    /// Reads the state of a request's latest task; nil means that it has none.
    init(_ task: URLSessionTask?) {
        guard let task else {
            self = .none
            return
        }
        self = task.state == .completed ? .completed : .live
    }
}
