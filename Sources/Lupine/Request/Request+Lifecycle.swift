// SPDX-License-Identifier: MIT

internal import Dispatch
internal import Foundation
internal import LupineLoading

// How a request is resumed, held, cancelled and brought to its end.

extension RequestMachine.Standing {
    /// How the latest of a request's tasks stands.
    init(_ task: URLSessionTask?) {
        guard let task else {
            self = .none
            return
        }
        self = task.state == .completed ? .completed : .live
    }
}

extension Request {
    // MARK: what users do

    // What is to be told of a change is a step, brought in the moment of the change and before the task is touched: it is told before
    // any callback of the task's. The task is asked and touched outside of the lock, for it may call the program's code;
    // what is done to it is queued under the lock, so that the wishes of two threads reach it in the order in which the machine
    // took them (O-6).

    /// Has the machine take what a user wants. How the latest task stands is asked before; when another one is the latest by
    /// then, that is asked instead.
    ///
    /// - Parameters:
    ///   - event: What is wanted, with how the task stands.
    ///   - follow: What follows from the machine's answer, under the lock: what is told, and what is done to the task.
    /// - Returns: What the machine says, and about which task; the third is to be given to `perform`.
    private func receive(
        _ event: (RequestMachine.Standing) -> RequestMachine.Event,
        follow: (RequestMachine.Action, URLSessionTask?, inout MutableState) -> TaskAction?
    ) -> (RequestMachine.Action, URLSessionTask?, TaskAction?) {
        var asked: URLSessionTask?
        while true {
            let standing = RequestMachine.Standing(asked)
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

    /// Performs the action, and what was decided meanwhile; nil is somebody else's to perform. Returns the monitors.
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

    /// Starts the request, or lets it go on. Without effect once it was cancelled or has finished.
    @discardableResult
    public func resume() -> Self {
        let (action, _, begun) = receive(RequestMachine.Event.resume) { action, task, state in
            switch action {
            case .resumeTask:
                Self.bring({ self.didResumeWithTask(task) }, to: &state)
                return task.map { .resume($0) }
            case .perform, .note: Self.bring({ self.didResume() }, to: &state)
            default: break
            }
            return nil
        }
        if action != .ignore { takeSteps(calledByProgram: true) }
        perform(begun)
        if action == .perform { readyToPerform() }
        return self
    }

    /// The same in a step, where what is to be told need not be queued.
    private func resumeNow() {
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

    /// Holds the request: no bytes move until `resume()`. Without effect once it was cancelled or has finished.
    @discardableResult
    public func suspend() -> Self {
        let (action, _, begun) = receive(RequestMachine.Event.suspend) { action, task, state in
            switch action {
            case .suspendTask:
                Self.bring(
                    {
                        self.didSuspend()
                        if let task { self.didSuspendTask(task) }
                    }, to: &state)
                return task.map { .suspend($0) }
            case .note: Self.bring({ self.didSuspend() }, to: &state)
            default: break
            }
            return nil
        }
        if action != .ignore { takeSteps(calledByProgram: true) }
        perform(begun)
        return self
    }

    /// Cancels the request by ending its task, if it has a live one.
    ///
    /// - Parameters:
    ///   - error: What the request fails with, if it has not failed before. Nil says that this is no failure: an error that
    ///     tells no more than that a task was cancelled is forgotten.
    ///   - tells: Whether `didCancelTask` is told at once; otherwise `end` queues it, when it knows what has come of it.
    ///   - end: Ends the task.
    @discardableResult
    func cancel(
        with error: AFError?, telling tells: Bool = true,
        ending end: @escaping @Sendable (URLSessionTask) -> Void = { $0.cancel() }
    ) -> RequestMachine.Action {
        let (action, _, begun) = receive(RequestMachine.Event.cancel) { action, task, state in
            // In one step with the state: whoever sees the request cancelled sees why.
            if action != .ignore, state.error == nil { state.error = error }
            switch action {
            case .cancelTask:
                guard let task else { break }
                Self.bring(
                    {
                        self.didCancel(asFailure: error != nil)
                        if tells { self.didCancelTask(task) }
                    }, to: &state)
                return .end(task, by: end)
            case .arrive:
                Self.bring(
                    {
                        self.didCancel(asFailure: error != nil)
                        self.cancellationArrived()
                    }, to: &state)
            default: break
            }
            return nil
        }
        if action != .ignore { takeSteps(calledByProgram: true) }
        perform(begun)
        return action
    }

    // MARK: handlers and the pass over their serializers

    /// Adds a serializer, which has to end with `serialized` in a step. The request may resume because of it. `isPrograms` says
    /// whether it holds something of the program's: a handler, or a serializer that is not the library's.
    func appendSerializer(
        isForeign: Bool, isPrograms: Bool = true, _ run: @escaping @Sendable (_ isInStep: Bool) -> Void
    ) {
        let action = mutableState.write { state in
            state.chain.append(.init(isForeign: isForeign, run: run))
            if isPrograms { state.holdsPrograms = true }
            return state.machine.receive(.handlerAdded)
        }
        switch action {
        case .beginLatePass: step(calledByProgram: true) { self.runSerializers() }
        case .offerResume:
            step(calledByProgram: true) {
                if self.shouldAutomaticallyResume ?? self.delegate?.startImmediately ?? true {
                    self.resumeNow()
                }
            }
        default: break
        }
    }

    /// Brings the request to its end: the serializers run, then the handlers are called. Ignored while that goes on and
    /// afterwards. In a step.
    func finish(error: AFError? = nil) {
        var error = error
        let (begins, _) = mutableState.write { state -> (Bool, Few<Job>) in
            guard state.machine.receive(.finish) == .beginPass else { return (false, []) }
            if error != nil { swap(&state.error, &error) }
            return (true, state.chain.restart())
        }
        if begins { runPass() }
    }

    /// With no handler at all the state is the last one when the end is told (E-7); else it is told before any response.
    private func runPass() {
        contentEnds()
        let hasHandlers = mutableState.read { !$0.chain.isEmpty }
        if !hasHandlers { runSerializers() }
        monitors?.requestDidFinish(self)
        if hasHandlers { runSerializers() }
    }

    /// Goes on with the pass. In a step.
    private func runSerializers() {
        var isOnlyAwaited = false
        let (step, waits, chain) = mutableState.write {
            state -> (SerializerChain.Step?, Bool, SerializerChain?) in
            isOnlyAwaited = !state.holdsPrograms
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
        // The handlers of progress that wait on this queue are called before those of responses are put on theirs.
        if waits { return underlyingQueue.async { self.step { self.runSerializers() } } }
        switch step {
        case .run(let serializer):
            if serializer.isForeign {
                tellNotes()
                serializationQueue.async { serializer.run(false) }
            } else {
                serializer.run(true)
            }
        case .deliver(let deliveries):
            tellNotes(mayWait: isOnlyAwaited)
            if let chain { part(with: chain) }
            // A block that a handler puts on the root queue finds the request gone from its session (O-5).
            let finishHandlers = leaveSession()
            for delivery in deliveries { delivery.run() }
            cleanup()
            for handler in finishHandlers { handler.run() }
        case nil: break
        }
    }

    /// A serializer has failed; asks the retriers. In a step.
    ///
    /// - Parameters:
    ///   - failure: Why.
    ///   - deliver: Calls the handler, with the error that a retrier put in the place of the failure, if one did.
    func serialized(_ failure: AFError, deliver: @escaping @Sendable (AFError?) -> Void) {
        guard let delegate else { return serialized { deliver(nil) } }
        switch mutableState.write({ $0.machine.receive(.serializerFailed) }) {
        case .ask(let number):
            delegate.retryResult(for: self, dueTo: failure) { result in
                self.answered(result, to: number, refusal: .serializerRefused(number)) { error in
                    self.serialized { deliver(error) }
                }
            }
        case .proceed: serialized { deliver(nil) }
        default: break
        }
    }

    /// A serializer has run, and has not failed or fails for good; `delivery` calls the handler. In a step.
    func serialized(_ delivery: @escaping @Sendable () -> Void) {
        mutableState.write { $0.chain.completed(Job(run: delivery)) }
        runSerializers()
    }

    /// Adds what is done when the handlers have been called; at once if that has happened.
    func onFinish(perform: @escaping @Sendable () -> Void) {
        let isOver = mutableState.write { state in
            if state.machine.isOver { return true }
            state.finishHandlers.append(Job(run: perform))
            return false
        }
        if isOver { perform() }
    }

    // MARK: failures and retries

    /// An attempt has ended: asks the retriers if it has failed, else brings the request to its end. In a step.
    func retryOrFinish(_ error: AFError?) {
        guard let error, let delegate else { return finish() }
        switch mutableState.write({ $0.machine.receive(.attemptFailed) }) {
        case .ask(let number):
            delegate.retryResult(for: self, dueTo: error) { result in
                self.answered(result, to: number, refusal: .refused(number)) { self.finish(error: $0) }
            }
        case .proceed: finish()
        default: break
        }
    }

    /// A retrier has answered. Too late an answer has no effect. In a step.
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

    /// Makes the request ready for the next attempt, unless it was cancelled meanwhile. In a step.
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

    // MARK: what is told, in a step

    private func readyToPerform() {
        if let delegate {
            delegate.readyToPerform(request: self)
        } else {
            step(calledByProgram: true) { self.finish(error: .sessionDeinitialized) }
        }
    }

    private func didResume() { monitors?.requestDidResume(self) }
    private func didResumeWithTask(_ task: URLSessionTask?) {
        didResume()
        if let task { didResumeTask(task) }
    }
    private func didSuspend() { monitors?.requestDidSuspend(self) }
    func didResumeTask(_ task: URLSessionTask) { monitors?.request(self, didResumeTask: task) }
    func didSuspendTask(_ task: URLSessionTask) { monitors?.request(self, didSuspendTask: task) }
    func didCancelTask(_ task: URLSessionTask) { monitors?.request(self, didCancelTask: task) }

    /// Tells of the cancellation. One that is no failure forgets an error that says no more than that the task was cancelled.
    private func didCancel(asFailure isFailure: Bool) {
        if !isFailure {
            _ = mutableState.write { state -> AFError? in
                guard case .sessionTaskFailed(let cause) = state.error,
                    (cause as? URLError)?.code == .cancelled
                else { return nil }
                return state.error.take()
            }
        }
        monitors?.requestDidCancel(self)
    }

    /// There was no task to cancel: what waits for one is not to happen any more.
    private func cancellationArrived() {
        let (begins, _) = mutableState.write { state -> (Bool, Few<Job>) in
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
