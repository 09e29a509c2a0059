// SPDX-License-Identifier: MIT

internal import Dispatch
internal import Foundation
internal import LupineLoading

// What the session tells a request of its attempts. All in steps.

extension Request {
    /// The first attempt begins, unless it has begun already or the request was cancelled.
    func beginsAttempt() -> Bool { mutableState.write { $0.machine.receive(.prepare) } == .proceed }

    /// Whether the attempt may go on to its task.
    var goesOn: Bool { mutableState.read { $0.machine.goesOn } }

    func didCreateInitialURLRequest(_ request: URLRequest) {
        mutableState.write { $0.requests.append(request) }
        monitors?.request(self, didCreateInitialURLRequest: request)
    }

    /// The attempt fails before it has a task. What fails after the request has come to its end changes nothing any more.
    func failAttempt(with error: AFError) {
        var error: AFError? = error
        mutableState.write { state in
            if state.machine.goesOn { swap(&state.error, &error) }
        }
    }

    /// What is to follow when an attempt fails before it has a task. One that has its task does not fail so any more: an adapter
    /// has answered twice.
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

    /// Takes the attempt's task, and does to it what the state wants.
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

    /// The server was refused, or its content is too long; the task has still to end.
    func didFailTask(_ task: URLSessionTask, earlyWithError error: AFError) {
        self.error = error
        monitors?.request(self, didFailTask: task, earlyWithError: error)
    }

    /// The task has ended, and its metrics are stored. An error that was there before it wins.
    func didCompleteTask(_ task: URLSessionTask, with error: AFError?) {
        mutableState.write { state in
            if state.error == nil { state.error = error }
        }
        goOnInStep { validators in
            self.run(validators)
            self.monitors?.request(self, didCompleteTask: task, with: error)
            self.retryOrFinish(self.error)
        }
    }

    func updateUploadProgress(completed: Int64, total: Int64) {
        show(mutableState.write { $0.upload.update(completed: completed, total: total) })
    }

    func updateDownloadProgress(completed: Int64, total: Int64) {
        show(mutableState.write { $0.download.update(completed: completed, total: total) })
    }

    /// Adds to what has come of the content.
    func updateDownloadProgress(addingBytes count: Int64, total: Int64) {
        show(
            mutableState.write { state in
                state.download.update(completed: state.download.completed + count, total: total)
            })
    }

    /// Shows new numbers, and notes where handlers of responses have to wait for that.
    private func show(_ change: TransferProgress.Change?) {
        guard let change else { return }
        if change.handler?.queue === underlyingQueue { mutableState.write { $0.hasProgressOnRoot = true } }
        // Whoever holds the object may watch it.
        onRootQueue { change.show() }
    }
}
