// SPDX-License-Identifier: MIT

internal import Dispatch
internal import Foundation
internal import LupineLoading

// The session's calls about a request's attempts. All are made in steps of the request.

extension Request {
    /// Begins the first attempt. Returns false if it has begun already or the request was cancelled.
    func beginsAttempt() -> Bool { mutableState.write { $0.machine.receive(.prepare) } == .proceed }

    /// Whether the attempt may proceed to create its task.
    var goesOn: Bool { mutableState.read { $0.machine.goesOn } }

    /// Finds out whether the attempt that begins may do without the program's code.
    func findProgramCode(of session: Session) {
        let mayCallNone = session.runsOnlyLibraryCode && takesContentAnywhere
        mutableState.write { $0.mayCallNoProgram = mayCallNone }
    }

    func didCreateInitialURLRequest(_ request: URLRequest) {
        mutableState.write { $0.requests.append(request) }
        monitors?.request(self, didCreateInitialURLRequest: request)
    }

    /// Stores the error of an attempt that fails before it has a task. Ignored once the attempt has a task, or the request was
    /// cancelled or has ended.
    func failAttempt(with error: AFError) {
        var error: AFError? = error
        mutableState.write { state in
            if state.machine.goesOn { swap(&state.error, &error) }
        }
    }

    /// Retries or finishes after an attempt has failed before it had a task. Ignored once a task exists; this happens when an
    /// adapter completes twice.
    func preparationFailed(_ error: AFError) {
        if mutableState.read({ $0.machine.phase == .preparing }) { retryOrFinish(error) }
    }

    func didFailToCreateURLRequest(with error: AFError) {
        failAttempt(with: error)
        monitors?.request(self, didFailToCreateURLRequestWithError: error)
        describeForCURL()
        preparationFailed(error)
    }

    func didAdaptInitialRequest(_ initial: URLRequest, to adapted: URLRequest) {
        mutableState.write { $0.requests.append(adapted) }
        monitors?.request(self, didAdaptInitialRequest: initial, to: adapted)
    }

    func didFailToAdaptURLRequest(_ initial: URLRequest, with error: AFError) {
        failAttempt(with: error)
        monitors?.request(self, didFailToAdaptURLRequest: initial, withError: error)
        describeForCURL()
        preparationFailed(error)
    }

    func didCreateURLRequest(_ request: URLRequest) {
        let told = mutableState.write { state in
            state.urlRequestHandler.flatMap { state.actions.take($0.telling(request)) }
        }
        perform(told)?.request(self, didCreateURLRequest: request)
        describeForCURL()
    }

    /// Stores the attempt's task, and resumes, suspends or cancels it as the state requires.
    func didCreateTask(_ task: URLSessionTask) {
        if !preference.isNone { task.prefer(preference) }
        let (action, begun) = mutableState.write { state -> (RequestMachine.Action, TaskAction?) in
            state.tasks.append(task)
            if let credential = state.credential { task.ownCredential = credential }
            let action = state.machine.receive(.taskMade)
            let follows: TaskAction? =
                switch action {
                case .resumeTask: .resume(task)
                case .suspendTask: .suspend(task)
                case .cancelTask: .end(task) { $0.cancel() }
                default: nil
                }
            var begun = follows.flatMap { state.actions.take($0) }
            if let handler = state.urlSessionTaskHandler {
                let told = state.actions.take(handler.telling(task))
                begun = begun ?? told
            }
            return (action, begun)
        }
        perform(begun)?.request(self, didCreateTask: task)
        switch action {
        case .resumeTask: didResumeTask(task)
        case .suspendTask: didSuspendTask(task)
        case .cancelTask: didCancelTask(task)
        default: break
        }
    }

    func didGatherMetrics(_ metrics: URLSessionTaskMetrics) {
        mutableState.write { state in
            if state.metrics.last !== metrics { state.metrics.append(metrics) }
        }
        monitors?.request(self, didGatherMetrics: metrics)
    }

    /// Stores an error that is known before the task ends: the server was not trusted, or its content is too long.
    func didFailTask(_ task: URLSessionTask, earlyWithError error: AFError) {
        self.error = error
        monitors?.request(self, didFailTask: task, earlyWithError: error)
    }

    /// Called when the task has ended and its metrics are stored. An earlier error takes precedence.
    func didCompleteTask(_ task: URLSessionTask, with error: AFError?) {
        let validators = mutableState.write { state in
            if state.error == nil { state.error = error }
            return state.error == nil ? state.validators : []
        }
        // Usually known when the step begins; a validator may have been added since.
        if validators.isEmpty { return taskCompleted(task, error) }
        continueOnRoot {
            self.run(validators)
            self.taskCompleted(task, error)
        }
    }

    private func taskCompleted(_ task: URLSessionTask, _ error: AFError?) {
        report(.completedTask(self, task, error))
        retryOrFinish(self.error)
    }

    func updateUploadProgress(completed: Int64, total: Int64) {
        show(mutableState.write { $0.upload.update(completed: completed, total: total) })
    }

    func updateDownloadProgress(completed: Int64, total: Int64) {
        show(mutableState.write { $0.download.update(completed: completed, total: total) })
    }

    /// Adds to the number of content bytes received.
    func updateDownloadProgress(addingBytes count: Int64, total: Int64) {
        show(
            mutableState.write { state in
                state.download.update(completed: state.download.completed + count, total: total)
            })
    }

    /// Publishes new numbers. Records that response handlers have to wait if a progress handler is called on the root queue.
    func show(_ change: TransferProgress.Change?) {
        guard let change else { return }
        if let queue = change.handler?.queue, queue.isSame(as: underlyingQueue) {
            mutableState.write { $0.hasProgressOnRoot = true }
        }
        change.show()
    }
}
