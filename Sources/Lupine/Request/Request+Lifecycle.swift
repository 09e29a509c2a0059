// SPDX-License-Identifier: MIT

internal import Dispatch
internal import Foundation
internal import LupineLoading

// Resuming, suspending, cancelling and finishing a request. The work is divided into steps, which the request's `Lane` runs one
// after the other.

// MARK: steps

extension Request {
    /// Performs a step: at once if the lane is idle, otherwise after the steps that were added before. Called on any thread.
    ///
    /// - Parameters:
    ///   - needsRoot: Whether the step calls the program's code, and so has to run on the root queue.
    ///   - run: The work of the step.
    func performStep(needsRoot: Bool, _ run: @escaping @Sendable () -> Void) {
        let step = Lane.Step(needsRoot: needsRoot, run: run)
        // `add` returns the lane's next action: run this step, continue on the root queue, or nothing.
        runSteps(mutableState.write { $0.lane.add(step, isOnRoot: false) })
    }

    /// Enqueues a block on the root queue that performs a step. Called on any thread.
    func enqueueStepOnRoot(_ run: @escaping @Sendable () -> Void) {
        underlyingQueue.async { self.performStepOnRoot(run) }
    }

    /// Performs a step: at once if the lane is idle, otherwise after the steps that were added before. Called on the root queue.
    func performStepOnRoot(_ run: @escaping @Sendable () -> Void) {
        let step = Lane.Step(needsRoot: true, run: run)
        runSteps(mutableState.write { $0.lane.add(step, isOnRoot: true) })
    }

    /// Continues the present step on the root queue. Calls `body` at once if the step runs there, otherwise in a later step.
    func continueOnRoot(_ body: @escaping @Sendable () -> Void) {
        if isRunningOffRoot { enqueueStepOnRoot(body) } else { body() }
    }

    /// Calls `body` after a serializer has returned: at once if the serializer ran in a step (`isInStep`). Otherwise calls it in
    /// a step on the root queue, because the serializer or its value may be the program's.
    func continueAfterSerializer(isInStep: Bool, _ body: @escaping @Sendable () -> Void) {
        if isInStep { body() } else { enqueueStepOnRoot(body) }
    }

    /// Whether a step is being performed on a thread other than the root queue's.
    private var isRunningOffRoot: Bool { mutableState.read { $0.lane.isRunningOffRoot } }

    /// Whether the present attempt calls none of the program's code.
    var callsNoProgramCode: Bool { mutableState.read { $0.callsNoProgramCode } }

    /// Performs an action of the lane, and those that follow it, until another thread or a block on the root queue continues.
    private func runSteps(_ action: Lane.Action) {
        var action = action
        while case .run(let step) = action {
            step.run()
            // Notifications are passed on before `stepReturned`, after which another thread may begin the next step.
            let (deferred, next) = mutableState.write { state in
                let deferred = state.takeDeferredNotifications()
                return (deferred, deferred == nil ? state.lane.stepReturned() : nil)
            }
            forward(deferred)
            action = next ?? mutableState.write { $0.lane.stepReturned() }
        }
        guard case .moveToRoot = action else { return }
        underlyingQueue.async { self.runSteps(self.mutableState.write { $0.lane.beganOnRoot() }) }
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

extension Request {
    // MARK: resume, suspend and cancel

    // `resume`, `suspend` and `cancel` may be called on any thread. Each stores a report in `pendingReports` before it changes
    // the task. A block on the root queue runs the reports. If a task callback reaches the root queue sooner, it runs them first,
    // so that the monitors receive the report before the task's events.
    //
    // The task is queried and changed outside of the lock, because it may call the program's code (O-6). The actions on the task
    // are enqueued under the lock: so the calls of two threads reach the task in the order in which the machine received them.

    /// Stores a report of a call of `resume`, `suspend` or `cancel`. The caller then calls `deliverPendingReportsOnRoot`, outside
    /// of the lock.
    static func addReport(_ report: @escaping @Sendable () -> Void, to state: inout MutableState) {
        state.pendingReports.append(Job(run: report))
    }

    /// Delivers the pending reports in a block on the root queue. Called on any thread.
    func deliverPendingReportsOnRoot() { enqueueStepOnRoot { self.deliverPendingReports() } }

    /// Reports the pending calls of `resume`, `suspend` and `cancel`. Called in a step, before any other event of the request is
    /// reported.
    func deliverPendingReports() {
        let reports = mutableState.write { state -> [Job] in
            if state.pendingReports.isEmpty { return [] }
            defer { state.pendingReports = [] }
            return state.pendingReports
        }
        for report in reports { report.run() }
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
        taskAction: (RequestMachine.Action, URLSessionTask?, inout MutableState) -> TaskAction?
    ) -> (action: RequestMachine.Action, task: URLSessionTask?, firstTaskAction: TaskAction?) {
        var examinedTask: URLSessionTask?
        while true {
            let status = RequestMachine.TaskStatus(examinedTask)
            let (action, task, firstTaskAction) = mutableState.write {
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

    /// Performs the action, then those that have been enqueued meanwhile. Performs nothing if `action` is nil.
    ///
    /// - Parameter action: The result of `OrderedActions.enqueue`.
    /// - Returns: The request's monitors. They are read together with the next action, which saves the caller another lock.
    @discardableResult
    func performTaskActions(from action: TaskAction?) -> CompositeEventMonitor? {
        guard var action else { return monitors }
        while true {
            action.perform()
            let (next, monitors) = mutableState.write { ($0.taskActions.next(), $0.eventMonitor) }
            guard let next else { return monitors }
            action = next
        }
    }

    /// Starts or continues the request. Has no effect once the request was cancelled or has finished.
    @discardableResult
    public func resume() -> Self {
        let (action, _, firstTaskAction) = sendToMachine(RequestMachine.Event.resume) { action, task, state in
            switch action {
            case .resumeTask:
                Self.addReport({ self.didResumeWithTask(task) }, to: &state)
                return task.map { .resume($0) }
            case .prepareFirstAttempt, .accept: Self.addReport({ self.didResume() }, to: &state)
            default: break
            }
            return nil
        }
        if action != .ignore { deliverPendingReportsOnRoot() }
        performTaskActions(from: firstTaskAction)
        if action == .prepareFirstAttempt { readyToPerform() }
        return self
    }

    /// Resumes the request after its first handler was added, if the request or else the session resumes automatically. Called in
    /// a step.
    private func resumeIfAutomatic(in delegate: (any RequestDelegate)?) {
        if shouldAutomaticallyResume ?? delegate?.startImmediately ?? true { resumeInStep(in: delegate) }
    }

    /// Resumes the request. Because this is called in a step, the report need not be stored: it is made at once.
    private func resumeInStep(in delegate: (any RequestDelegate)?) {
        deliverPendingReports()
        let (action, task, firstTaskAction) = sendToMachine(RequestMachine.Event.resume) { action, task, _ in
            action == .resumeTask ? task.map { .resume($0) } : nil
        }
        performTaskActions(from: firstTaskAction)
        switch action {
        case .resumeTask: didResumeWithTask(task)
        case .prepareFirstAttempt:
            didResume()
            // `readyToPerform` would begin the attempt in another step, on the root queue.
            if let session = delegate as? Session { session.performInStep(self) } else { readyToPerform() }
        case .accept: didResume()
        default: break
        }
    }

    /// Suspends the request: no bytes are transferred until `resume()`. Has no effect once the request was cancelled or has
    /// finished.
    @discardableResult
    public func suspend() -> Self {
        let (action, _, firstTaskAction) = sendToMachine(RequestMachine.Event.suspend) {
            action, task, state in
            switch action {
            case .suspendTask:
                Self.addReport(
                    {
                        self.didSuspend()
                        if let task { self.didSuspendTask(task) }
                    }, to: &state)
                return task.map { .suspend($0) }
            case .accept: Self.addReport({ self.didSuspend() }, to: &state)
            default: break
            }
            return nil
        }
        if action != .ignore { deliverPendingReportsOnRoot() }
        performTaskActions(from: firstTaskAction)
        return self
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
                Self.addReport(
                    {
                        self.didCancel(asFailure: error != nil)
                        if reportsTask { self.didCancelTask(task) }
                    }, to: &state)
                return .cancel(task, by: cancelTask)
            case .cancelWithoutTask:
                Self.addReport(
                    {
                        self.didCancel(asFailure: error != nil)
                        self.finishCancellation()
                    }, to: &state)
            default: break
            }
            return nil
        }
        if action != .ignore { deliverPendingReportsOnRoot() }
        performTaskActions(from: firstTaskAction)
        return action
    }

    // MARK: the pass: all serializers run, then all handlers are called

    /// Adds a serializer. This may resume the request: automatic resumption follows the first handler.
    ///
    /// - Parameters:
    ///   - needsSerializationQueue: Whether the serializer runs on the serialization queue, because it may call the program's
    ///     code or take long.
    ///   - isAwaited: Whether only Swift tasks await the response, and no handler of the program receives it.
    ///   - run: Runs the serializer, then calls `completeSerializer` in a step. `isInStep` is false on the serialization queue.
    func appendSerializer(
        needsSerializationQueue: Bool, isAwaited: Bool = false,
        _ run: @escaping @Sendable (_ isInStep: Bool) -> Void
    ) {
        let action = mutableState.write { state in
            state.serializerChain.append(
                .init(needsSerializationQueue: needsSerializationQueue, isAwaited: isAwaited, run: run))
            return state.machine.receive(.handlerAdded)
        }
        switch action {
        case .beginLatePass: enqueueStepOnRoot { self.continuePass() }
        case .resumeIfAutomatic:
            // The thread of an awaiting Swift task starts the request itself, if that calls no code of the program.
            if isAwaited, let session = delegate as? Session, mayStartOnAnyThread(in: session) {
                performStep(needsRoot: false) { self.resumeIfAutomatic(in: session) }
            } else {
                enqueueStepOnRoot { self.resumeIfAutomatic(in: self.delegate) }
            }
        default: break
        }
    }

    /// Finishes the request: the serializers run, then the handlers are called. Ignored once this pass has begun. Called in a
    /// step.
    ///
    /// - Parameter error: The error of the request; nil keeps the present one.
    func finish(error: AFError? = nil) {
        // The errors are swapped, and the discarded calls are returned. The old error and the calls are thus released outside of
        // the lock.
        var error = error
        let (beginsPass, _) = mutableState.write { state -> (Bool, SmallArray<Job>) in
            guard state.machine.receive(.finish) == .beginPass else { return (false, []) }
            if error != nil { swap(&state.error, &error) }
            return (true, state.serializerChain.restart())
        }
        if beginsPass { runPass() }
    }

    /// Reports `requestDidFinish` and runs the pass. A request without handlers is in state `finished` before the report (E-7).
    /// With handlers, the report precedes the serializers.
    private func runPass() {
        contentDidEnd()
        // Includes handlers for which Swift tasks wait.
        let hasHandlers = mutableState.read { !$0.serializerChain.isEmpty }
        if !hasHandlers { continuePass() }
        report(.didFinish, .finished(self))
        if hasHandlers { continuePass() }
    }

    /// Runs the next serializer of the pass or, after the last one, calls the handlers. Called in a step.
    private func continuePass() {
        let (next, mustWaitForRoot, finishedChain) = mutableState.write {
            state -> (next: SerializerChain.Action?, mustWaitForRoot: Bool, finishedChain: SerializerChain?)
            in
            // Handlers, and the objects that they hold, are the program's: they are called and released on the root queue.
            if state.lane.isRunningOffRoot, state.serializerChain.hasHandlers { return (nil, true, nil) }
            let next = state.serializerChain.next()
            guard case .deliver = next else {
                // In other phases, such as while a retrier decides, there is no pass to continue.
                return (state.machine.phase == .finishing ? next : nil, false, nil)
            }
            // A progress handler's call that waits on the root queue precedes the response handlers. The pass continues after it.
            if state.mayHaveProgressCallOnRoot {
                state.mayHaveProgressCallOnRoot = false
                return (nil, true, nil)
            }
            guard state.machine.receive(.serializersFinished) == .proceed else { return (nil, false, nil) }
            return (next, false, state.serializerChain.takeAll())
        }
        if mustWaitForRoot { return enqueueStepOnRoot { self.continuePass() } }
        switch next {
        case .run(let serializer):
            // The argument says whether the serializer runs in this step.
            if serializer.needsSerializationQueue {
                serializationQueue.async { serializer.run(false) }
            } else {
                serializer.run(true)
            }
        case .deliver:
            if let finishedChain, finishedChain.hasHandlers {
                // The monitors receive the events of earlier steps before a handler that was added late is called.
                monitors?.scheduleDelivery()
                finishedChain.deliver(toHandlers: true)
            }
            // The next two calls precede the resumption of awaiting Swift tasks: by then the session has released the request
            // (O-5), the request has removed its files, and its last event is on the way to the monitors.
            cleanup()
            forwardDeferredNotifications()
            finishedChain?.deliver(toHandlers: false)
        case nil: break
        }
    }

    /// Asks the retriers, on the root queue, after a serializer has failed. Completes the serializer if they refuse. Called in a
    /// step.
    ///
    /// - Parameters:
    ///   - failure: The error of the serializer.
    ///   - deliver: Calls the handler. Its argument is the error that a retrier has substituted, or nil.
    func retryOrCompleteSerializer(
        dueTo failure: AFError, deliver: @escaping @Sendable (AFError?) -> Void
    ) {
        // Without a delegate the session is gone, and nobody can retry.
        guard let delegate else { return completeSerializer { deliver(nil) } }
        switch mutableState.write({ $0.machine.receive(.serializerFailed) }) {
        case .askRetrier(let number):
            continueOnRoot {
                delegate.retryResult(for: self, dueTo: failure) { result in
                    self.performStepOnRoot {
                        self.performRetryResult(
                            result, ofQuestion: number, refusal: .serializerRetryRefused(number)
                        ) {
                            error in
                            self.completeSerializer { deliver(error) }
                        }
                    }
                }
            }
        case .proceed: completeSerializer { deliver(nil) }
        // The pass in which the serializer has run is over or was abandoned.
        default: break
        }
    }

    /// Stores `delivery`, which calls the handler at the end of the pass, and continues the pass. Called in a step when a
    /// serializer has succeeded, or has failed and is not retried.
    func completeSerializer(delivery: @escaping @Sendable () -> Void) {
        mutableState.write { $0.serializerChain.addDelivery(Job(run: delivery)) }
        continuePass()
    }

    /// Calls `perform` in a step when the request has called its handlers. If it has called them before, calls `perform` at once,
    /// on the caller's thread.
    func onFinish(perform: @escaping @Sendable () -> Void) {
        let isOver = mutableState.write { state in
            if state.machine.isOver { return true }
            state.finishHandlers.append(Job(run: perform))
            return false
        }
        if isOver { perform() }
    }

    /// Lets the session begin the first attempt. Fails the request if the session has been deallocated.
    private func readyToPerform() {
        if let delegate {
            delegate.readyToPerform(request: self)
        } else {
            enqueueStepOnRoot { self.finish(error: .sessionDeinitialized) }
        }
    }

    // MARK: reports to the monitors

    // Each method reports the event of the same name.

    private func didResume() { report(.didResume, .resumed(self)) }
    private func didResumeWithTask(_ task: URLSessionTask?) {
        didResume()
        if let task { didResumeTask(task) }
    }
    private func didSuspend() { report(.didSuspend, .suspended(self)) }
    func didResumeTask(_ task: URLSessionTask) { report(.didResumeTask, .resumedTask(self, task)) }
    func didSuspendTask(_ task: URLSessionTask) { report(.didSuspendTask, .suspendedTask(self, task)) }
    func didCancelTask(_ task: URLSessionTask) { report(.didCancelTask, .cancelledTask(self, task)) }

    /// Reports the cancellation. If `isFailure` is false, first removes an error that only says that the task was cancelled.
    private func didCancel(asFailure isFailure: Bool) {
        if !isFailure {
            // The removed error is returned so that it is released outside of the lock.
            _ = mutableState.write { state -> AFError? in
                guard case .sessionTaskFailed(let cause) = state.error,
                    (cause as? URLError)?.code == .cancelled
                else { return nil }
                return state.error.take()
            }
        }
        report(.didCancel, .cancelled(self))
    }

    /// Finishes a cancelled request that has no task to cancel. Called in a step.
    private func finishCancellation() {
        // The discarded calls are returned so that they are released outside of the lock.
        let (beginsPass, _) = mutableState.write { state -> (Bool, SmallArray<Job>) in
            guard state.machine.receive(.finishCancellation) == .beginPass else { return (false, []) }
            return (true, state.serializerChain.restart())
        }
        if beginsPass { runPass() }
    }
}
