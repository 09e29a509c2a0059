// SPDX-License-Identifier: MIT

/// Decides what a request does next; `Request` performs the returned actions. It is a value type, and uses neither locks nor
/// queues nor clocks.
///
/// The **state** is public. Calls of `resume`, `suspend` and `cancel` change it, and so do the end of a pass and a handler that
/// is added after it. The **phase** is internal: it says how far the current attempt has got. A request finishes with a *pass*:
/// all of its serializers run, then all of its handlers are called.
///
/// The phase ensures that only one pass runs at a time, and that either a retry or a pass follows a failed attempt. It also
/// ensures that a request that is cancelled while a retrier decides, or while a retry is pending, still has its pass.
struct RequestMachine: Equatable {
    /// The progress of the current attempt.
    enum Phase: Equatable {
        /// Nothing has begun.
        case idle
        /// The request is being converted and adapted, and the body of an upload is being created.
        case preparing
        /// The attempt has a task, which has not ended.
        case loading
        /// A retrier decides whether to retry. The number identifies the question to the retrier: a late answer has another one.
        case retrierDeciding(Int)
        /// A retrier has granted a retry, which has not begun.
        case retryPending
        /// The serializers are running.
        case finishing
        /// The pass has ended and the handlers have been called.
        case over
    }

    /// The status of a request's latest task.
    enum TaskStatus {
        /// The request has no task yet.
        case none
        /// The task has not completed. It may be suspended.
        case live
        /// The task has completed.
        case completed
    }

    /// An event in the life of a request.
    enum Event {
        /// The program or the library resumes the request. As in the next two cases, the status is that of the latest task.
        case resume(TaskStatus)
        /// The program suspends the request.
        case suspend(TaskStatus)
        /// The program or the library cancels the request.
        case cancel(TaskStatus)
        /// A cancelled request that has no live task can finish. Sent in a step on the root queue, after
        /// `Action.cancelWithoutTask`.
        case finishCancellation
        /// A handler was added.
        case handlerAdded
        /// The first attempt begins.
        case beginFirstAttempt
        /// The attempt's task was created.
        case taskCreated
        /// The attempt has failed. The machine may return `askRetrier`.
        case attemptFailed
        /// A serializer has failed. The machine may return `askRetrier`.
        case serializerFailed
        /// The retrier grants a retry. As in the next two cases, the number is that of the question.
        case retryGranted(Int)
        /// The retrier refuses to retry a failed attempt. The phase is `loading` again, from which `finish` begins the pass.
        case retryRefused(Int)
        /// The retrier refuses to retry after a serializer has failed.
        case serializerRetryRefused(Int)
        /// The next attempt begins, after the delay that the retrier has chosen.
        case beginRetry
        /// The session or the request itself finishes the request without another attempt.
        case finish
        /// All serializers have run.
        case serializersFinished
    }

    /// The action that `Request` performs after an event.
    enum Action: Equatable {
        /// Do nothing: the event has no effect in the present state.
        case ignore
        /// Do nothing but report the event to the monitors: the state or the phase has changed.
        case accept
        /// Let the session prepare the first attempt.
        case prepareFirstAttempt
        /// Resume, suspend or cancel the latest task.
        case resumeTask
        case suspendTask
        case cancelTask
        /// The request is cancelled and has no live task. Send `Event.finishCancellation` in a step on the root queue.
        case cancelWithoutTask
        /// Ask the retriers. Their answer is an event with the same number.
        case askRetrier(Int)
        /// Continue with what the event announces: begin the attempt, follow the retrier's answer, or call the handlers.
        case proceed
        /// Run all serializers, beginning with the first, and report the end of the request to the monitors.
        case beginPass
        /// Run the serializers of handlers that were added after the pass. The monitors receive no report.
        case beginLatePass
        /// Resume the request if it resumes automatically: a handler was added.
        case resumeIfAutomatic
    }

    private(set) var state = Request.State.initialized
    private(set) var phase = Phase.idle
    /// The number of times that retriers were asked, which is also the number of the latest question.
    private var questionCount = 0

    /// Whether the handlers have been called. Only another added handler ends this phase.
    var isOver: Bool { phase == .over }

    /// Whether an attempt is being prepared and may create its task.
    var mayCreateTask: Bool { phase == .preparing && state != .cancelled }

    /// Changes state and phase, and returns the action to perform. The only transition function.
    mutating func receive(_ event: Event) -> Action {
        switch event {
        case .resume(let task): resume(task)
        case .suspend(let task): suspend(task)
        case .cancel(let task): cancel(task)
        case .finishCancellation: finishCancellation()
        case .handlerAdded: handlerAdded()
        case .beginFirstAttempt: beginAttempt(after: .idle)
        case .taskCreated: taskCreated()
        case .attemptFailed: askRetrier(isInProgress: phase == .preparing || phase == .loading)
        case .serializerFailed: askRetrier(isInProgress: phase == .finishing)
        case .retryGranted(let number): acceptAnswer(to: number, nextPhase: .retryPending)
        case .retryRefused(let number): acceptAnswer(to: number, nextPhase: .loading)
        case .serializerRetryRefused(let number): acceptAnswer(to: number, nextPhase: .finishing)
        case .beginRetry: beginAttempt(after: .retryPending)
        case .finish: finish()
        case .serializersFinished: serializersFinished()
        }
    }

    // MARK: user actions

    private mutating func resume(_ task: TaskStatus) -> Action {
        switch state {
        case .initialized, .suspended: state = .resumed
        case .resumed, .cancelled, .finished: return .ignore
        }
        switch task {
        case .none: return .prepareFirstAttempt
        case .live: return .resumeTask
        case .completed: return .accept
        }
    }

    private mutating func suspend(_ task: TaskStatus) -> Action {
        switch state {
        case .initialized, .resumed: state = .suspended
        case .suspended, .cancelled, .finished: return .ignore
        }
        switch task {
        case .live: return .suspendTask
        case .none, .completed: return .accept
        }
    }

    private mutating func cancel(_ task: TaskStatus) -> Action {
        switch state {
        case .initialized, .resumed, .suspended: state = .cancelled
        case .cancelled, .finished: return .ignore
        }
        switch (phase, task) {
        // In the other phases, or without a live task, no task will report an end that finishes the request.
        case (.loading, .live), (.finishing, .live), (.over, .live): return .cancelTask
        case (_, .none), (_, .completed), (.idle, _), (.preparing, _), (.retrierDeciding, _),
            (.retryPending, _):
            return .cancelWithoutTask
        }
    }

    /// Begins a pass, unless one is running: that pass continues, and its remaining serializers find the error. Does
    /// nothing while a task is loading: that task is about to report its end.
    private mutating func finishCancellation() -> Action {
        switch phase {
        case .idle, .preparing, .retrierDeciding, .retryPending:
            phase = .finishing
            return .beginPass
        case .loading, .finishing, .over: return .ignore
        }
    }

    /// Begins a late pass if the handlers have been called already. The request then counts as resumed until that pass ends.
    private mutating func handlerAdded() -> Action {
        if phase == .over {
            phase = .finishing
            if state == .finished { state = .resumed }
            return .beginLatePass
        }
        switch state {
        case .initialized, .suspended: return .resumeIfAutomatic
        case .resumed, .cancelled, .finished: return .ignore
        }
    }

    // MARK: the attempt

    /// Begins an attempt if the request is in phase `expectedPhase`. Ignored if the request was cancelled: then
    /// `finishCancellation` finishes it.
    private mutating func beginAttempt(after expectedPhase: Phase) -> Action {
        guard phase == expectedPhase, state != .cancelled else { return .ignore }
        phase = .preparing
        return .proceed
    }

    /// Returns what the state requires for the new task. If the request was cancelled or the attempt has ended before the task
    /// was created, the task is cancelled, so that it reports its end.
    private mutating func taskCreated() -> Action {
        guard phase == .preparing else { return .cancelTask }
        phase = .loading
        switch state {
        // With eager setup, the task is created before the request is resumed: it waits.
        case .initialized, .finished: return .accept
        case .resumed: return .resumeTask
        case .suspended: return .suspendTask
        case .cancelled: return .cancelTask
        }
    }

    /// Asks a retrier after an attempt or a serializer has failed. A cancelled request is not retried.
    ///
    /// - Parameter isInProgress: Whether the attempt or pass that has failed is still in progress; otherwise the failure is
    ///   ignored.
    private mutating func askRetrier(isInProgress: Bool) -> Action {
        guard isInProgress else { return .ignore }
        // While an attempt is prepared the request has no live task: `finishCancellation` finishes it.
        guard state != .cancelled else { return phase == .preparing ? .ignore : .proceed }
        questionCount += 1
        phase = .retrierDeciding(questionCount)
        return .askRetrier(questionCount)
    }

    /// Accepts the answer of a retrier to question `number`. Ignores an answer that is repeated or late. After a cancellation it
    /// ignores every answer: `finishCancellation` finishes the request.
    private mutating func acceptAnswer(to number: Int, nextPhase: Phase) -> Action {
        guard phase == .retrierDeciding(number), state != .cancelled else { return .ignore }
        phase = nextPhase
        return .proceed
    }

    // MARK: the pass

    /// Begins a pass, unless one has begun.
    private mutating func finish() -> Action {
        switch phase {
        case .idle, .preparing, .loading, .retrierDeciding, .retryPending:
            phase = .finishing
            return .beginPass
        case .finishing, .over: return .ignore
        }
    }

    /// Ends the pass: `Request` then calls the handlers.
    private mutating func serializersFinished() -> Action {
        guard phase == .finishing else { return .ignore }
        phase = .over
        switch state {
        case .initialized, .resumed, .suspended: state = .finished
        case .cancelled, .finished: break
        }
        return .proceed
    }
}
