// SPDX-License-Identifier: MIT

internal import Dispatch
internal import Foundation
internal import LupineLoading

// Resuming, suspending, cancelling and finishing a request.

// MARK: steps

extension Request {
    /// Performs a step: at once if the lane is idle, otherwise after the steps that were added before. Any thread.
    ///
    /// - Parameters:
    ///   - needsRoot: Whether the step calls the program's code, and so has to run on the root queue.
    ///   - run: The work of the step.
    func performStep(needsRoot: Bool, _ run: @escaping @Sendable () -> Void) {
        let step = Lane.Step(needsRoot: needsRoot, run: run)
        runSteps(mutableState.write { $0.lane.enter(step, isOnRoot: false) })
    }

    /// Enqueues a block on the root queue that performs a step. Any thread.
    func performOnRoot(_ run: @escaping @Sendable () -> Void) {
        underlyingQueue.async { self.performOnRootNow(run) }
    }

    /// Performs a step: at once if the lane is idle. Called on the root queue.
    func performOnRootNow(_ run: @escaping @Sendable () -> Void) {
        let step = Lane.Step(needsRoot: true, run: run)
        runSteps(mutableState.write { $0.lane.enter(step, isOnRoot: true) })
    }

    /// Continues the present step on the root queue: calls `body` at once if the step runs there, otherwise in another step.
    func continueOnRoot(_ body: @escaping @Sendable () -> Void) {
        if isRunningOffRoot { performOnRoot(body) } else { body() }
    }

    /// Continues after a serializer has returned: at once if it ran in a step, otherwise on the root queue, because the
    /// serializer or its value may be the program's.
    func continueAfterSerializer(_ isInStep: Bool, _ body: @escaping @Sendable () -> Void) {
        if isInStep { body() } else { performOnRoot(body) }
    }

    /// Whether a step is being performed on a thread other than the root queue's.
    private var isRunningOffRoot: Bool { mutableState.read { $0.lane.isRunningOffRoot } }

    /// Reports an event that is also posted as a notification. If the monitor that posts notifications is the only one, an event
    /// of a step that runs off the root queue is held until the next event or the end of the step, and forwarded together with
    /// the next one: this wakes the main queue once instead of twice.
    func report(_ event: MonitorEvent) {
        let (held, next, monitors) = mutableState.write {
            state -> (HeldEvent?, MonitorEvent?, CompositeEventMonitor?) in
            let held = state.heldEvent.take()
            guard state.lane.isRunningOffRoot, let monitors = state.eventMonitor,
                monitors.onlyPostsNotifications
            else {
                return (held, event, state.eventMonitor)
            }
            let combined = held?.event.combined(withNext: event)
            state.heldEvent = HeldEvent(event: combined ?? event, monitors: monitors)
            return (combined == nil ? held : nil, nil, nil)
        }
        if let held { held.monitors.forward(notificationEvent: held.event) }
        if let next { monitors?.forward(notificationEvent: next) }
    }

    /// Forwards the event that `report` has held, if there is one: before handlers are called, and at the end of the step.
    private func forwardHeldEvent() {
        let (held, hasHandlers) = mutableState.write { ($0.heldEvent.take(), $0.chain.hasHandlers) }
        guard let held else { return }
        // Only handlers have to be called after the monitors. Without handlers, the events of one turn of a loop share a block.
        if hasHandlers {
            held.monitors.forward(notificationEvent: held.event)
        } else {
            held.monitors.forwardBatched(notificationEvent: held.event)
        }
    }

    /// Whether the present attempt calls none of the program's code.
    var callsNoProgramCode: Bool { mutableState.read { $0.callsNoProgramCode } }

    /// Performs an action of the lane, and those that follow it, until another thread or a block on the root queue continues.
    private func runSteps(_ action: Lane.Action) {
        var action = action
        while case .run(let step) = action {
            step.run()
            // Before the next step begins, which may run on another thread.
            forwardHeldEvent()
            action = mutableState.write { $0.lane.stepReturned() }
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
    // MARK: user actions

    // `resume`, `suspend` and `cancel` may be called on any thread. Each stores a report in `pendingReports` before it changes
    // the task. A block on the root queue runs the reports, unless a task callback reaches the root queue sooner: that runs them
    // first. The task is queried and changed outside of the lock, because it may call the program's code. The actions on
    // the task are enqueued under the lock, so that the calls of two threads reach the task in the order in which the machine
    // received them (O-6).

    /// Stores a report of a user action. The caller then calls `deliverPendingReportsOnRoot`, outside of the lock.
    static func addReport(_ report: @escaping @Sendable () -> Void, to state: inout MutableState) {
        state.pendingReports.append(Job(run: report))
    }

    /// Delivers the pending reports in a block on the root queue. Any thread.
    func deliverPendingReportsOnRoot() { performOnRoot { self.deliverPendingReports() } }

    /// Delivers the pending reports of user actions. Called in a step, before any other event of the request is reported.
    func deliverPendingReports() {
        let reports = mutableState.write { state -> [Job] in
            if state.pendingReports.isEmpty { return [] }
            defer { state.pendingReports = [] }
            return state.pendingReports
        }
        for report in reports { report.run() }
    }

    /// Passes a user action to the machine. Reads the status of the latest task outside of the lock, and reads again if the
    /// request has a newer task when the lock is taken.
    ///
    /// - Parameters:
    ///   - event: Returns the machine's event for the status of the task.
    ///   - taskAction: Called under the lock with the machine's action and the task. Stores a report, and returns the action on
    ///     the task, or nil.
    /// - Returns: The machine's action, the task, and the task action that the caller passes to
    ///   `performTaskActions`.
    private func receive(
        _ event: (RequestMachine.TaskStatus) -> RequestMachine.Event,
        taskAction: (RequestMachine.Action, URLSessionTask?, inout MutableState) -> TaskAction?
    ) -> (RequestMachine.Action, URLSessionTask?, TaskAction?) {
        var knownTask: URLSessionTask?
        while true {
            let status = RequestMachine.TaskStatus(knownTask)
            let (action, task, firstAction) = mutableState.write {
                state -> (RequestMachine.Action?, URLSessionTask?, TaskAction?) in
                let task = state.tasks.last
                guard task === knownTask else { return (nil, task, nil) }
                let action = state.machine.receive(event(status))
                let firstAction = taskAction(action, task, &state).flatMap { state.actions.enqueue($0) }
                return (action, task, firstAction)
            }
            if let action { return (action, task, firstAction) }
            knownTask = task
        }
    }

    /// Performs the action, then those that have been enqueued meanwhile. Does nothing if `action` is nil.
    ///
    /// - Returns: The request's monitors, which are read together with the next action, so that the lock is taken once.
    @discardableResult
    func performTaskActions(from action: TaskAction?) -> CompositeEventMonitor? {
        guard var action else { return monitors }
        while true {
            action.perform()
            let (next, monitors) = mutableState.write { ($0.actions.next(), $0.eventMonitor) }
            guard let next else { return monitors }
            action = next
        }
    }

    /// Starts or continues the request. Has no effect once the request was cancelled or has finished.
    @discardableResult
    public func resume() -> Self {
        let (action, _, firstAction) = receive(RequestMachine.Event.resume) { action, task, state in
            switch action {
            case .resumeTask:
                Self.addReport({ self.didResumeWithTask(task) }, to: &state)
                return task.map { .resume($0) }
            case .runPipeline, .accept: Self.addReport({ self.didResume() }, to: &state)
            default: break
            }
            return nil
        }
        if action != .ignore { deliverPendingReportsOnRoot() }
        performTaskActions(from: firstAction)
        if action == .runPipeline { readyToPerform() }
        return self
    }

    /// Resumes the request after its first handler was added, if it resumes automatically. In a step.
    private func resumeIfAutomatic(in delegate: (any RequestDelegate)?) {
        if shouldAutomaticallyResume ?? delegate?.startImmediately ?? true { resumeInStep(in: delegate) }
    }

    /// Resumes the request. Called in a step, so that the report is made at once and not stored.
    private func resumeInStep(in delegate: (any RequestDelegate)?) {
        deliverPendingReports()
        let (action, task, firstAction) = receive(RequestMachine.Event.resume) { action, task, _ in
            action == .resumeTask ? task.map { .resume($0) } : nil
        }
        performTaskActions(from: firstAction)
        switch action {
        case .resumeTask: didResumeWithTask(task)
        case .runPipeline:
            didResume()
            // `readyToPerform` would begin the attempt in another step, on the root queue.
            if let session = delegate as? Session { session.performNow(self) } else { readyToPerform() }
        case .accept: didResume()
        default: break
        }
    }

    /// Suspends the request: no bytes are transferred until `resume()`. Has no effect once the request was cancelled or has
    /// finished.
    @discardableResult
    public func suspend() -> Self {
        let (action, _, firstAction) = receive(RequestMachine.Event.suspend) { action, task, state in
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
        performTaskActions(from: firstAction)
        return self
    }

    /// Cancels the request, and its task if that has not completed.
    ///
    /// - Parameters:
    ///   - error: The error that the request fails with, unless it has failed before. Nil means that the cancellation is no
    ///     failure: an error that only says that the task was cancelled is removed.
    ///   - reportsTask: Whether `didCancelTask` is reported with the cancellation. If false, `end` stores that report.
    ///   - end: Cancels the task.
    /// - Returns: The machine's action; `.ignore` if the request was cancelled before or has finished.
    @discardableResult
    func cancel(
        with error: AFError?, reportingTask reportsTask: Bool = true,
        ending end: @escaping @Sendable (URLSessionTask) -> Void = { $0.cancel() }
    ) -> RequestMachine.Action {
        let (action, _, firstAction) = receive(RequestMachine.Event.cancel) { action, task, state in
            // The error is set together with the state, so that a thread that sees the cancellation also sees the error.
            if action != .ignore, state.error == nil { state.error = error }
            switch action {
            case .cancelTask:
                guard let task else { break }
                Self.addReport(
                    {
                        self.didCancel(asFailure: error != nil)
                        if reportsTask { self.didCancelTask(task) }
                    }, to: &state)
                return .end(task, by: end)
            case .cancelWithoutTask:
                Self.addReport(
                    {
                        self.didCancel(asFailure: error != nil)
                        self.cancellationArrived()
                    }, to: &state)
            default: break
            }
            return nil
        }
        if action != .ignore { deliverPendingReportsOnRoot() }
        performTaskActions(from: firstAction)
        return action
    }

    // MARK: handlers and the pass over their serializers

    /// Adds a serializer. This may resume the request.
    ///
    /// - Parameters:
    ///   - needsSerializationQueue: Whether the serializer runs on the serialization queue, because it may call the program's
    ///     code or take long.
    ///   - isAwaited: Whether a Swift task awaits the response, and no handler is called.
    ///   - run: Runs the serializer, then calls `completeSerializer` in a step. `isInStep` is false on the serialization queue.
    func appendSerializer(
        needsSerializationQueue: Bool, isAwaited: Bool = false,
        _ run: @escaping @Sendable (_ isInStep: Bool) -> Void
    ) {
        let action = mutableState.write { state in
            state.chain.append(
                .init(needsSerializationQueue: needsSerializationQueue, isAwaited: isAwaited, run: run))
            return state.machine.receive(.handlerAdded)
        }
        switch action {
        case .beginLatePass: performOnRoot { self.continuePass() }
        case .offerResume:
            if isAwaited, let session = delegate as? Session, mayStartOnAnyThread(in: session) {
                performStep(needsRoot: false) { self.resumeIfAutomatic(in: session) }
            } else {
                performOnRoot { self.resumeIfAutomatic(in: self.delegate) }
            }
        default: break
        }
    }

    /// Finishes the request: the serializers run, then the handlers are called. Ignored once the pass has begun. In a step.
    ///
    /// - Parameter error: The error of the request; nil keeps the present one.
    func finish(error: AFError? = nil) {
        var error = error
        // The old error and the discarded calls are released outside of the lock.
        let (begins, _) = mutableState.write { state -> (Bool, SmallArray<Job>) in
            guard state.machine.receive(.finish) == .beginPass else { return (false, []) }
            if error != nil { swap(&state.error, &error) }
            return (true, state.chain.restart())
        }
        if begins { runPass() }
    }

    /// Reports `requestDidFinish` and runs the pass. A request without handlers is finished before the report (E-7); otherwise
    /// the report precedes the serializers.
    private func runPass() {
        contentDidEnd()
        let hasHandlers = mutableState.read { !$0.chain.isEmpty }
        if !hasHandlers { continuePass() }
        report(.finished(self))
        if hasHandlers { continuePass() }
    }

    /// Runs the next serializer of the pass or, after the last one, calls the handlers. In a step.
    private func continuePass() {
        let (next, mustWaitForRoot, finishedChain) = mutableState.write {
            state -> (SerializerChain.Action?, Bool, SerializerChain?) in
            // Handlers, and the objects that they hold, are the program's.
            if state.lane.isRunningOffRoot, state.chain.hasHandlers { return (nil, true, nil) }
            let next = state.chain.next()
            guard case .deliver = next else {
                // In other phases there is no pass to continue: while a retrier decides, for example.
                return (state.machine.phase == .finishing ? next : nil, false, nil)
            }
            // Progress handlers that wait on the root queue are called before response handlers are dispatched.
            if state.mayHaveProgressCallOnRoot {
                state.mayHaveProgressCallOnRoot = false
                return (nil, true, nil)
            }
            guard state.machine.receive(.serialized) == .proceed else { return (nil, false, nil) }
            return (next, false, state.chain.takeAll())
        }
        if mustWaitForRoot { return performOnRoot { self.continuePass() } }
        switch next {
        case .run(let serializer):
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
            // Before awaiting tasks are resumed: they must find neither the request in its session (O-5) nor its files.
            cleanup()
            forwardHeldEvent()
            finishedChain?.deliver(toHandlers: false)
        case nil: break
        }
    }

    /// Asks the retriers, on the root queue, after a serializer has failed. Completes the serializer if they refuse. In a step.
    ///
    /// - Parameters:
    ///   - failure: The error.
    ///   - deliver: Calls the handler. Its argument is the error that a retrier has substituted, or nil.
    func retryOrCompleteSerializer(
        dueTo failure: AFError, deliver: @escaping @Sendable (AFError?) -> Void
    ) {
        guard let delegate else { return completeSerializer { deliver(nil) } }
        switch mutableState.write({ $0.machine.receive(.serializerFailed) }) {
        case .askRetrier(let number):
            continueOnRoot {
                delegate.retryResult(for: self, dueTo: failure) { result in
                    self.performOnRootNow {
                        self.handleRetryResult(result, to: number, refusal: .serializerRetryRefused(number)) {
                            error in
                            self.completeSerializer { deliver(error) }
                        }
                    }
                }
            }
        case .proceed: completeSerializer { deliver(nil) }
        default: break
        }
    }

    /// Stores `delivery`, which calls the handler, and continues the pass. Called in a step when a serializer has succeeded, or
    /// has failed and is not retried.
    func completeSerializer(delivery: @escaping @Sendable () -> Void) {
        mutableState.write { $0.chain.addDelivery(Job(run: delivery)) }
        continuePass()
    }

    /// Calls `perform` in a step once the handlers have been called, or at once if they have been called before.
    func onFinish(perform: @escaping @Sendable () -> Void) {
        let isOver = mutableState.write { state in
            if state.machine.isOver { return true }
            state.finishHandlers.append(Job(run: perform))
            return false
        }
        if isOver { perform() }
    }

    // MARK: reports to the monitors

    private func readyToPerform() {
        if let delegate {
            delegate.readyToPerform(request: self)
        } else {
            performOnRoot { self.finish(error: .sessionDeinitialized) }
        }
    }

    private func didResume() { report(.resumed(self)) }
    private func didResumeWithTask(_ task: URLSessionTask?) {
        didResume()
        if let task { didResumeTask(task) }
    }
    private func didSuspend() { report(.suspended(self)) }
    func didResumeTask(_ task: URLSessionTask) { report(.resumedTask(self, task)) }
    func didSuspendTask(_ task: URLSessionTask) { report(.suspendedTask(self, task)) }
    func didCancelTask(_ task: URLSessionTask) { report(.cancelledTask(self, task)) }

    /// Reports the cancellation. If `isFailure` is false, first removes an error that only says that the task was cancelled.
    private func didCancel(asFailure isFailure: Bool) {
        if !isFailure {
            // The error is returned so that it is released outside of the lock.
            _ = mutableState.write { state -> AFError? in
                guard case .sessionTaskFailed(let cause) = state.error,
                    (cause as? URLError)?.code == .cancelled
                else { return nil }
                return state.error.take()
            }
        }
        report(.cancelled(self))
    }

    /// Finishes a cancelled request that has no task to cancel. In a step.
    private func cancellationArrived() {
        // The discarded calls are released outside of the lock.
        let (begins, _) = mutableState.write { state -> (Bool, SmallArray<Job>) in
            guard state.machine.receive(.cancellationArrived) == .beginPass else { return (false, []) }
            return (true, state.chain.restart())
        }
        if begins { runPass() }
    }
}
