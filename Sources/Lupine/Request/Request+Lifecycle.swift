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
            deferred?.forward(about: self)
            action = next ?? mutableState.write { $0.lane.stepReturned() }
        }
        guard case .moveToRoot = action else { return }
        underlyingQueue.async { self.runSteps(self.mutableState.write { $0.lane.beganOnRoot() }) }
    }
}

extension Request {
    // MARK: resume, suspend and cancel

    /// Resumes, suspends and cancels the request.
    var control: RequestControl { RequestControl(of: self) }

    /// Delivers the pending reports in a block on the root queue. Called on any thread.
    func deliverPendingReportsOnRoot() { enqueueStepOnRoot { self.deliverPendingReports() } }

    /// Reports the pending calls of `resume`, `suspend` and `cancel`. Called in a step, before any other event of the request is
    /// reported.
    func deliverPendingReports() {
        for report in mutableState.write({ $0.takePendingReports() }) { report.run() }
    }

    /// Performs the action, then those that have been enqueued meanwhile. Performs nothing if `action` is nil.
    ///
    /// - Parameter action: The result of `OrderedActions.enqueue`.
    /// - Returns: `monitorsOfAllEvents`, which is read together with the next action: that saves the caller another lock.
    @discardableResult
    func performTaskActions(from action: TaskAction?) -> CompositeEventMonitor? {
        guard var action else { return monitorsOfAllEvents }
        while true {
            action.perform()
            let (next, monitors) = mutableState.write { ($0.taskActions.next(), $0.monitorsOfAllEvents) }
            guard let next else { return monitors }
            action = next
        }
    }

    /// Starts or continues the request. Has no effect once the request was cancelled or has finished.
    @discardableResult
    public func resume() -> Self {
        control.resume()
        return self
    }

    /// Suspends the request: no bytes are transferred until `resume()`. Has no effect once the request was cancelled or has
    /// finished.
    @discardableResult
    public func suspend() -> Self {
        control.suspend()
        return self
    }

    // MARK: the end

    /// The serializers and the delivery of their values, with which the request ends.
    var pass: RequestPass { RequestPass(of: self) }

    /// Finishes the request: the serializers run, then the handlers are called. Ignored once this pass has begun. Called in a
    /// step.
    ///
    /// - Parameter error: The error of the request; nil keeps the present one.
    func finish(error: AFError? = nil) { pass.begin(on: .finish, error: error) }

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
    func readyToPerform() {
        if let delegate {
            delegate.readyToPerform(request: self)
        } else {
            enqueueStepOnRoot { self.finish(error: .sessionDeinitialized) }
        }
    }
}
