// SPDX-License-Identifier: MIT

internal import Dispatch
internal import Foundation
internal import LupineLoading

// Resuming, suspending, cancelling and finishing a request.

// MARK: steps

extension Request {
    /// Performs a step: at once if none is being performed, otherwise behind those that wait. Any thread.
    ///
    /// - Parameter needsRoot: Whether the step calls the program's code, and so has to run on the root queue.
    func performStep(needsRoot: Bool, _ run: @escaping @Sendable () -> Void) {
        let step = Lane.Step(needsRoot: needsRoot, run: run)
        perform(mutableState.write { $0.lane.enter(step, isOnRoot: false) })
    }

    /// Performs a step in a block of the root queue. Any thread.
    func performOnRoot(_ run: @escaping @Sendable () -> Void) {
        underlyingQueue.async { self.performOnRootNow(run) }
    }

    /// Performs a step, on the root queue.
    func performOnRootNow(_ run: @escaping @Sendable () -> Void) {
        let step = Lane.Step(needsRoot: true, run: run)
        perform(mutableState.write { $0.lane.enter(step, isOnRoot: true) })
    }

    /// Continues the present step on the root queue: at once if it runs there.
    func continueOnRoot(_ body: @escaping @Sendable () -> Void) {
        if isElsewhere { performOnRoot(body) } else { body() }
    }

    /// Continues behind a serializer: at once if that has run in a step, otherwise on the root queue. Serializers that have not run
    /// in a step, and their values, are the program's.
    func continueBehindSerializer(_ isInStep: Bool, _ body: @escaping @Sendable () -> Void) {
        if isInStep { body() } else { performOnRoot(body) }
    }

    /// Whether a step is being performed on another thread than the root queue's.
    private var isElsewhere: Bool { mutableState.read { $0.lane.isElsewhere } }

    /// Reports an event that has a notification. If nobody but the notifications' monitor hears of it, the events of a step that
    /// runs elsewhere than on the root queue are forwarded together: the main queue is woken once.
    func report(_ event: MonitorEvent) {
        let (last, next, monitors) = mutableState.write {
            state -> (HeldEvent?, MonitorEvent?, CompositeEventMonitor?) in
            let last = state.heldEvent.take()
            guard state.lane.isElsewhere, let monitors = state.eventMonitor, monitors.onlyPostsNotifications
            else {
                return (last, event, state.eventMonitor)
            }
            let both = last?.event.combined(withNext: event)
            state.heldEvent = HeldEvent(event: both ?? event, monitors: monitors)
            return (both == nil ? last : nil, nil, nil)
        }
        if let last { last.monitors.forward(notificationEvent: last.event) }
        if let next { monitors?.forward(notificationEvent: next) }
    }

    /// Forwards what has been reported in this step and was not forwarded yet. A handler of the program must not overtake it.
    private func forwardReported() {
        let (held, hasHandlers) = mutableState.write { ($0.heldEvent.take(), $0.chain.hasHandlers) }
        guard let held else { return }
        if hasHandlers {
            held.monitors.forward(notificationEvent: held.event)
        } else {
            held.monitors.forwardBatched(notificationEvent: held.event)
        }
    }

    /// Whether the present attempt calls none of the program's code.
    var callsNoProgram: Bool { mutableState.read { $0.callsNoProgram } }

    private func perform(_ action: Lane.Action) {
        var action = action
        while case .run(let step) = action {
            step.run()
            // Before the next step, which another thread may perform.
            forwardReported()
            action = mutableState.write { $0.lane.stepReturned() }
        }
        guard case .moveToRoot = action else { return }
        underlyingQueue.async { self.perform(self.mutableState.write { $0.lane.arrived() }) }
    }
}

extension RequestMachine.TaskStatus {
    /// The standing of a request's latest task.
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

    // Notifications of a state change are stored in `changes` before the task is touched. They are delivered in a block on the root
    // queue, or before a task callback that reaches the root queue sooner. The task is queried and changed outside of the
    // lock, because it may call the program's code. Changes to it are queued under the lock, so that the calls of two threads
    // reach the task in the order in which the machine received them (O-6).

    /// Stores a notification. The caller then calls `deliverChangesSoon`, outside of the lock.
    static func add(_ changes: @escaping @Sendable () -> Void, to state: inout MutableState) {
        state.changes.append(Job(run: changes))
    }

    func deliverChangesSoon() { performOnRoot { self.deliverChanges() } }

    /// Delivers the stored notifications of user actions, before any other event of the request.
    func deliverChanges() {
        let changes = mutableState.write { state -> [Job] in
            if state.changes.isEmpty { return [] }
            defer { state.changes = [] }
            return state.changes
        }
        for item in changes { item.run() }
    }

    /// Passes a user action to the machine. The state of the latest task is read first, outside of the lock; if there is a newer
    /// task by then, this is repeated with that one.
    ///
    /// - Parameters:
    ///   - event: The action, with the standing of the task.
    ///   - follow: Called under the lock with the machine's answer. Stores the news and returns what is done to the task.
    /// - Returns: The machine's answer, the task it is about, and an action to be passed to `perform`.
    private func receive(
        _ event: (RequestMachine.TaskStatus) -> RequestMachine.Event,
        follow: (RequestMachine.Action, URLSessionTask?, inout MutableState) -> TaskAction?
    ) -> (RequestMachine.Action, URLSessionTask?, TaskAction?) {
        var asked: URLSessionTask?
        while true {
            let standing = RequestMachine.TaskStatus(asked)
            let (action, task, begun) = mutableState.write {
                state -> (RequestMachine.Action?, URLSessionTask?, TaskAction?) in
                let task = state.tasks.last
                guard task === asked else { return (nil, task, nil) }
                let action = state.machine.receive(event(standing))
                let begun = follow(action, task, &state).flatMap { state.actions.take($0) }
                return (action, task, begun)
            }
            if let action { return (action, task, begun) }
            asked = task
        }
    }

    /// Performs the action, and those decided meanwhile. Nil means that there is none, or that another thread performs it.
    /// Returns the monitors.
    @discardableResult
    func perform(_ action: TaskAction?) -> CompositeEventMonitor? {
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
        let (action, _, begun) = receive(RequestMachine.Event.resume) { action, task, state in
            switch action {
            case .resumeTask:
                Self.add({ self.didResumeWithTask(task) }, to: &state)
                return task.map { .resume($0) }
            case .perform, .note: Self.add({ self.didResume() }, to: &state)
            default: break
            }
            return nil
        }
        if action != .ignore { deliverChangesSoon() }
        perform(begun)
        if action == .perform { readyToPerform() }
        return self
    }

    /// Resumes the request because of its first handler, unless that is left to the program.
    private func resumeUnlessManual(in delegate: (any RequestDelegate)?) {
        if shouldAutomaticallyResume ?? delegate?.startImmediately ?? true { resumeNow(in: delegate) }
    }

    /// Resumes the request in a step, where notifications need not be queued.
    private func resumeNow(in delegate: (any RequestDelegate)?) {
        deliverChanges()
        let (action, task, begun) = receive(RequestMachine.Event.resume) { action, task, _ in
            action == .resumeTask ? task.map { .resume($0) } : nil
        }
        perform(begun)
        switch action {
        case .resumeTask: didResumeWithTask(task)
        case .perform:
            didResume()
            if let session = delegate as? Session { session.performNow(self) } else { readyToPerform() }
        case .note: didResume()
        default: break
        }
    }

    /// Suspends the request: no bytes are transferred until `resume()`. Has no effect once the request was cancelled or has
    /// finished.
    @discardableResult
    public func suspend() -> Self {
        let (action, _, begun) = receive(RequestMachine.Event.suspend) { action, task, state in
            switch action {
            case .suspendTask:
                Self.add(
                    {
                        self.didSuspend()
                        if let task { self.didSuspendTask(task) }
                    }, to: &state)
                return task.map { .suspend($0) }
            case .note: Self.add({ self.didSuspend() }, to: &state)
            default: break
            }
            return nil
        }
        if action != .ignore { deliverChangesSoon() }
        perform(begun)
        return self
    }

    /// Cancels the request by ending its task, if it has a live one.
    ///
    /// - Parameters:
    ///   - error: The error the request fails with, if it has not failed before. Nil means that this is no failure: an error that
    ///     only says that a task was cancelled is removed.
    ///   - tells: Whether `didCancelTask` is reported with the cancellation; otherwise `end` queues it when it knows the outcome.
    ///   - end: Ends the task.
    @discardableResult
    func cancel(
        with error: AFError?, telling tells: Bool = true,
        ending end: @escaping @Sendable (URLSessionTask) -> Void = { $0.cancel() }
    ) -> RequestMachine.Action {
        let (action, _, begun) = receive(RequestMachine.Event.cancel) { action, task, state in
            // Set together with the state, so that a reader that sees the request cancelled also sees the error.
            if action != .ignore, state.error == nil { state.error = error }
            switch action {
            case .cancelTask:
                guard let task else { break }
                Self.add(
                    {
                        self.didCancel(asFailure: error != nil)
                        if tells { self.didCancelTask(task) }
                    }, to: &state)
                return .end(task, by: end)
            case .arrive:
                Self.add(
                    {
                        self.didCancel(asFailure: error != nil)
                        self.cancellationArrived()
                    }, to: &state)
            default: break
            }
            return nil
        }
        if action != .ignore { deliverChangesSoon() }
        perform(begun)
        return action
    }

    // MARK: handlers and the pass over their serializers

    /// Adds a serializer, which has to call `serialized` in a step when it is done. This may resume the request.
    ///
    /// - Parameters:
    ///   - isForeign: Whether the serializer may call the program's code, or take long: it then runs on the serialization queue.
    ///   - isAwaited: Whether only a Swift task waits for the response.
    ///   - run: Runs the serializer; `isInStep` is false on the serialization queue.
    func appendSerializer(
        isForeign: Bool, isAwaited: Bool = false, _ run: @escaping @Sendable (_ isInStep: Bool) -> Void
    ) {
        let action = mutableState.write { state in
            state.chain.append(.init(isForeign: isForeign, isAwaited: isAwaited, run: run))
            return state.machine.receive(.handlerAdded)
        }
        switch action {
        case .beginLatePass: performOnRoot { self.runSerializers() }
        case .offerResume:
            if isAwaited, let session = delegate as? Session, mayStartAnywhere(in: session) {
                performStep(needsRoot: false) { self.resumeUnlessManual(in: session) }
            } else {
                performOnRoot { self.resumeUnlessManual(in: self.delegate) }
            }
        default: break
        }
    }

    /// Finishes the request: the serializers run, then the handlers are called. Ignored if that is in progress or done. In
    /// a step.
    func finish(error: AFError? = nil) {
        var error = error
        let (begins, _) = mutableState.write { state -> (Bool, SmallArray<Job>) in
            guard state.machine.receive(.finish) == .beginPass else { return (false, []) }
            if error != nil { swap(&state.error, &error) }
            return (true, state.chain.restart())
        }
        if begins { runPass() }
    }

    /// Without handlers, the state is final when `requestDidFinish` is reported (E-7); otherwise it is reported before any
    /// response.
    private func runPass() {
        contentEnds()
        let hasHandlers = mutableState.read { !$0.chain.isEmpty }
        if !hasHandlers { runSerializers() }
        report(.finished(self))
        if hasHandlers { runSerializers() }
    }

    /// Performs the next part of the pass, in a step.
    private func runSerializers() {
        let (step, waits, spent) = mutableState.write {
            state -> (SerializerChain.Step?, Bool, SerializerChain?) in
            // Handlers, and what they hold, are the program's.
            if state.lane.isElsewhere, state.chain.hasHandlers { return (nil, true, nil) }
            let step = state.chain.next()
            guard case .deliver = step else {
                return (state.machine.phase == .finishing ? step : nil, false, nil)
            }
            if state.hasProgressOnRoot {
                state.hasProgressOnRoot = false
                return (nil, true, nil)
            }
            guard state.machine.receive(.serialized) == .proceed else { return (nil, false, nil) }
            return (step, false, state.chain.takeAll())
        }
        // Progress handlers that wait on the root queue are called before response handlers are dispatched.
        if waits { return performOnRoot { self.runSerializers() } }
        switch step {
        case .run(let serializer):
            if serializer.isForeign {
                serializationQueue.async { serializer.run(false) }
            } else {
                serializer.run(true)
            }
        case .deliver:
            if let spent, spent.hasHandlers {
                // A handler that was added late follows what an earlier step has reported.
                monitors?.scheduleDelivery()
                spent.deliver(toHandlers: true)
            }
            // Before tasks are resumed, which must not find the request in its session (O-5), nor its files.
            cleanup()
            forwardReported()
            spent?.deliver(toHandlers: false)
        case nil: break
        }
    }

    /// Asks the retriers, on the root queue, after a serializer has failed. In a step.
    ///
    /// - Parameters:
    ///   - failure: The error.
    ///   - deliver: Calls the handler, with the error that a retrier has substituted, if any.
    func serialized(_ failure: AFError, deliver: @escaping @Sendable (AFError?) -> Void) {
        guard let delegate else { return serialized { deliver(nil) } }
        switch mutableState.write({ $0.machine.receive(.serializerFailed) }) {
        case .ask(let number):
            continueOnRoot {
                delegate.retryResult(for: self, dueTo: failure) { result in
                    self.performOnRootNow {
                        self.answered(result, to: number, refusal: .serializerRefused(number)) { error in
                            self.serialized { deliver(error) }
                        }
                    }
                }
            }
        case .proceed: serialized { deliver(nil) }
        default: break
        }
    }

    /// Called in a step when a serializer has succeeded, or has failed and is not retried; `delivery` calls the handler.
    func serialized(_ delivery: @escaping @Sendable () -> Void) {
        mutableState.write { $0.chain.completed(Job(run: delivery)) }
        runSerializers()
    }

    /// Adds a closure to be called when the handlers have been called; calls it at once if they have. On the root queue.
    func onFinish(perform: @escaping @Sendable () -> Void) {
        let isOver = mutableState.write { state in
            if state.machine.isOver { return true }
            state.finishHandlers.append(Job(run: perform))
            return false
        }
        if isOver { perform() }
    }

    // MARK: failures and retries

    /// Asks the retriers if the attempt has failed, otherwise finishes the request. In a step.
    func retryOrFinish(_ error: AFError?) {
        guard let error, let delegate else { return finish() }
        switch mutableState.write({ $0.machine.receive(.attemptFailed) }) {
        case .ask(let number):
            continueOnRoot {
                delegate.retryResult(for: self, dueTo: error) { result in
                    self.performOnRootNow {
                        self.answered(result, to: number, refusal: .refused(number)) {
                            self.finish(error: $0)
                        }
                    }
                }
            }
        case .proceed: finish()
        default: break
        }
    }

    /// Handles the answer of a retrier. A late answer has no effect. On the root queue.
    private func answered(
        _ result: RetryResult, to number: Int, refusal: RequestMachine.Event,
        refused: @escaping @Sendable (AFError?) -> Void
    ) {
        let event = result.isRetry ? RequestMachine.Event.granted(number) : refusal
        guard mutableState.write({ $0.machine.receive(event) }) == .proceed else { return }
        switch result {
        case .retry: retry(after: nil)
        case .retryWithDelay(let delay): retry(after: delay)
        case .doNotRetry: refused(nil)
        case .doNotRetryWithError(let error):
            refused(error.asAFError(orFailWith: "a delegate of requests answers with an AFError"))
        }
    }

    private func retry(after delay: TimeInterval?) {
        guard let delegate else { return finish(error: .sessionDeinitialized) }
        delegate.retryRequest(self, withDelay: delay)
    }

    /// Prepares the request for the next attempt. Returns false if it was cancelled meanwhile. On the root queue.
    func prepareForRetry() -> Bool {
        let isDue = mutableState.write { state in
            guard state.machine.receive(.retryDue) == .proceed else { return false }
            state.retryCount += 1
            return true
        }
        guard isDue else { return false }
        reset()
        monitors?.requestIsRetrying(self)
        return true
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

    /// Reports the cancellation. If it is no failure, removes an error that only says that the task was cancelled.
    private func didCancel(asFailure isFailure: Bool) {
        if !isFailure {
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
        let (begins, _) = mutableState.write { state -> (Bool, SmallArray<Job>) in
            guard state.machine.receive(.cancellationArrived) == .beginPass else { return (false, []) }
            return (true, state.chain.restart())
        }
        if begins { runPass() }
    }
}

extension RetryResult {
    /// Whether the request is tried again.
    var isRetry: Bool {
        switch self {
        case .retry, .retryWithDelay: true
        case .doNotRetry, .doNotRetryWithError: false
        }
    }
}
