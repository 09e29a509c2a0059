// SPDX-License-Identifier: MIT

internal import Dispatch
internal import Foundation
internal import LupineLoading

// An attempt of a request: the methods that the session calls during it, and the retries after it has failed. Unless a comment
// says otherwise, the methods are called in a step, a piece of work that the request's `Lane` runs.

extension Request {
    /// Begins the first attempt. Returns false if it has begun already or the request was cancelled.
    func beginAttempt() -> Bool { mutableState.write { $0.machine.receive(.beginFirstAttempt) } == .proceed }

    /// Whether the attempt may proceed to create its task.
    var mayCreateTask: Bool { mutableState.read { $0.machine.mayCreateTask } }

    /// Records whether the session and the request contain no code of the program (`mayReceiveOnAnyThread`). If so, the steps of
    /// the attempt may run on any thread, until the program adds code to the request.
    func checkForProgramCode(of session: Session) {
        let mayAvoidProgramCode = session.runsOnlyLibraryCode && mayReceiveOnAnyThread
        mutableState.write { $0.mayAvoidProgramCode = mayAvoidProgramCode }
    }

    // The methods whose names begin with `did` report the event of the same name to the monitors.

    func didCreateInitialURLRequest(_ request: URLRequest) {
        let monitors = mutableState.write { state in
            state.requests.append(request)
            return state.monitorsOfAllEvents
        }
        monitors?.request(self, didCreateInitialURLRequest: request)
    }

    /// Stores the error of an attempt that fails before it has a task. Ignored once the attempt has a task, or the request was
    /// cancelled or has finished.
    func failAttempt(with error: AFError) {
        // `swap` moves the old error out of the lock, where it is released.
        var error: AFError? = error
        mutableState.write { state in
            if state.machine.mayCreateTask { swap(&state.error, &error) }
        }
    }

    /// Retries or finishes the request after an attempt has failed before it had a task. Ignored once the attempt has a task: an
    /// adapter may wrongly complete twice, first with a request and then with an error.
    func preparationFailed(_ error: AFError) {
        if mutableState.read({ $0.machine.phase == .preparing }) { retryOrFinish(error) }
    }

    func didFailToCreateURLRequest(with error: AFError) {
        failAttempt(with: error)
        monitorsOfAllEvents?.request(self, didFailToCreateURLRequestWithError: error)
        callCURLHandler()
        preparationFailed(error)
    }

    func didAdaptInitialRequest(_ initial: URLRequest, to adapted: URLRequest) {
        let monitors = mutableState.write { state in
            state.requests.append(adapted)
            return state.monitorsOfAllEvents
        }
        monitors?.request(self, didAdaptInitialRequest: initial, to: adapted)
    }

    func didFailToAdaptURLRequest(_ initial: URLRequest, with error: AFError) {
        failAttempt(with: error)
        monitorsOfAllEvents?.request(self, didFailToAdaptURLRequest: initial, withError: error)
        callCURLHandler()
        preparationFailed(error)
    }

    func didCreateURLRequest(_ request: URLRequest) {
        let firstTaskAction = mutableState.write { state in
            state.urlRequestHandler.flatMap { state.taskActions.enqueue($0.makeCall(with: request)) }
        }
        // Also returns the monitors, which it reads under the same lock as the next action: that saves acquiring the lock again.
        let monitors = performTaskActions(from: firstTaskAction)
        monitors?.request(self, didCreateURLRequest: request)
        callCURLHandler()
    }

    /// Stores the attempt's task, and resumes, suspends or cancels it as the state requires.
    func didCreateTask(_ task: URLSessionTask) {
        // If a Swift task on an event loop has created the request, the task prefers connections of that loop.
        if !loopPreference.isNone { task.prefer(loopPreference) }
        let (action, firstTaskAction) = mutableState.write { state -> (RequestMachine.Action, TaskAction?) in
            state.tasks.append(task)
            // The task answers challenges with this credential, and not with those that the session stores.
            if let credential = state.credential { task.ownCredential = credential }
            let action = state.machine.receive(.taskCreated)
            let taskAction: TaskAction? =
                switch action {
                case .resumeTask: .resume(task)
                case .suspendTask: .suspend(task)
                // `TaskAction.perform` first resumes the task, because only a resumed task reports its end.
                case .cancelTask: .cancel(task) { $0.cancel() }
                // The request has not been resumed: its task waits.
                default: nil
                }
            // `enqueue` returns nil while another thread performs task actions: that thread then performs the new ones too.
            var firstTaskAction = taskAction.flatMap { state.taskActions.enqueue($0) }
            if let handler = state.urlSessionTaskHandler {
                let handlerCall = state.taskActions.enqueue(handler.makeCall(with: task))
                firstTaskAction = firstTaskAction ?? handlerCall
            }
            return (action, firstTaskAction)
        }
        // Returns the monitors, as in `didCreateURLRequest`.
        let monitors = performTaskActions(from: firstTaskAction)
        monitors?.request(self, didCreateTask: task)
        switch action {
        case .resumeTask: didResumeTask(task)
        case .suspendTask: didSuspendTask(task)
        case .cancelTask: didCancelTask(task)
        default: break
        }
    }

    /// Stores the metrics of the latest task, unless they are stored already.
    func didGatherMetrics(_ metrics: URLSessionTaskMetrics) {
        let monitors = mutableState.write { state in
            if state.metrics.last !== metrics { state.metrics.append(metrics) }
            return state.monitorsOfAllEvents
        }
        monitors?.request(self, didGatherMetrics: metrics)
    }

    /// Stores an error that occurs before the task ends, for example because the server is not trusted or the content is too
    /// long.
    func didFailTask(_ task: URLSessionTask, earlyWithError error: AFError) {
        self.error = error
        monitorsOfAllEvents?.request(self, didFailTask: task, earlyWithError: error)
    }

    func didResumeTask(_ task: URLSessionTask) { report(.didResumeTask, .resumedTask(self, task)) }
    func didSuspendTask(_ task: URLSessionTask) { report(.didSuspendTask, .suspendedTask(self, task)) }
    func didCancelTask(_ task: URLSessionTask) { report(.didCancelTask, .cancelledTask(self, task)) }

    /// Validates the response, then retries or finishes the request. Called when the task has ended and its metrics are stored.
    /// An earlier error takes precedence over `error`.
    func didCompleteTask(_ task: URLSessionTask, with error: AFError?) {
        let validators = mutableState.write { state in
            if state.error == nil { state.error = error }
            return state.error == nil ? state.validators : []
        }
        if validators.isEmpty { return reportCompletion(of: task, with: error) }
        // Validators are the program's. The step runs on the root queue already, unless the first validator was added after the
        // step had begun.
        continueOnRoot {
            Validator.run(validators, for: self)
            self.reportCompletion(of: task, with: error)
        }
    }

    private func reportCompletion(of task: URLSessionTask, with error: AFError?) {
        report(.didCompleteTask, .completedTask(self, task, error))
        // The request's error, because `error` is nil if the task succeeded and a validator then failed.
        retryOrFinish(self.error)
    }

    /// Sets the number of bytes sent, and the number of bytes to send.
    func updateUploadProgress(completed: Int64, total: Int64) {
        publish(mutableState.write { $0.uploadProgress.update(completed: completed, total: total) })
    }

    /// Sets the number of content bytes received, and the number expected.
    func updateDownloadProgress(completed: Int64, total: Int64) {
        publish(mutableState.write { $0.downloadProgress.update(completed: completed, total: total) })
    }

    /// Adds to the number of content bytes received.
    func updateDownloadProgress(addingBytes count: Int64, total: Int64) {
        publish(mutableState.write { $0.downloadProgress.add(count, of: total) })
    }

    /// Publishes a change of progress. If the progress handler is called on the root queue, the request records that: response
    /// handlers are called after the progress handler.
    func publish(_ change: TransferProgress.Change?) {
        guard let change else { return }
        if let queue = change.handler?.queue, queue.isSame(as: underlyingQueue) {
            mutableState.write { $0.mayHaveProgressCallOnRoot = true }
        }
        change.publish()
    }

    // MARK: failures and retries

    /// Asks the retriers if the attempt has failed, otherwise finishes the request. Called in a step.
    func retryOrFinish(_ error: AFError?) {
        // Without an error the attempt has succeeded. Without a delegate the session is gone, and nobody can retry.
        guard let error, let delegate else { return finish() }
        switch mutableState.write({ $0.machine.receive(.attemptFailed) }) {
        case .askRetrier(let number):
            RetryQuestion(of: self, number: number, refusal: .retryRefused(number)) { self.finish(error: $0) }
                .ask(delegate, about: error)
        case .proceed: finish()
        // `.ignore`: the attempt has ended before, or the cancellation finishes the request.
        default: break
        }
    }

    /// Begins the next attempt: discards the results of the failed one. Returns false if the request was cancelled meanwhile. On
    /// the root queue.
    func prepareForRetry() -> Bool {
        let hasBegun = mutableState.write { state in
            guard state.machine.receive(.beginRetry) == .proceed else { return false }
            state.retryCount += 1
            return true
        }
        guard hasBegun else { return false }
        reset()
        monitorsOfAllEvents?.requestIsRetrying(self)
        return true
    }
}

/// A question to the retriers of a request, after an attempt or a serializer has failed.
struct RetryQuestion: Sendable {
    private let request: Request
    private let number: Int
    private let refusal: RequestMachine.Event
    private let onRefusal: @Sendable (AFError?) -> Void

    /// Creates a question.
    ///
    /// - Parameters:
    ///   - request: The request that has failed.
    ///   - number: The number of the question, by which the machine ignores a late answer.
    ///   - refusal: The machine's event if the retrier refuses.
    ///   - onRefusal: Called if the retrier refuses. Its argument is the error that the retrier has substituted, or nil.
    init(
        of request: Request, number: Int, refusal: RequestMachine.Event,
        onRefusal: @escaping @Sendable (AFError?) -> Void
    ) {
        (self.request, self.number, self.refusal, self.onRefusal) = (request, number, refusal, onRefusal)
    }

    /// Asks the retriers on the root queue. Called in a step.
    func ask(_ delegate: any RequestDelegate, about failure: AFError) {
        request.continueOnRoot {
            delegate.retryResult(for: request, dueTo: failure) { result in
                request.performStepOnRoot { perform(result) }
            }
        }
    }

    /// Begins a retry or ends the attempt, as the retrier has answered. A late answer has no effect. Called on the root queue.
    private func perform(_ result: RetryResult) {
        let event = result.isRetry ? RequestMachine.Event.retryGranted(number) : refusal
        guard request.mutableState.write({ $0.machine.receive(event) }) == .proceed else { return }
        switch result {
        case .retry: retry(after: nil)
        case .retryWithDelay(let delay): retry(after: delay)
        case .doNotRetry: onRefusal(nil)
        case .doNotRetryWithError(let error):
            onRefusal(error.asAFError(orFailWith: "a delegate of requests answers with an AFError"))
        }
    }

    /// Lets the session begin the next attempt, after `delay` seconds.
    private func retry(after delay: TimeInterval?) {
        guard let delegate = request.delegate else { return request.finish(error: .sessionDeinitialized) }
        delegate.retryRequest(request, withDelay: delay)
    }
}

extension RetryResult {
    /// Whether the retrier grants a retry.
    var isRetry: Bool {
        switch self {
        case .retry, .retryWithDelay: true
        case .doNotRetry, .doNotRetryWithError: false
        }
    }
}
