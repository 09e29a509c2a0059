// SPDX-License-Identifier: MIT

/// Decides what a request does next; `Request` performs the returned actions. A value without locks, queues or clocks.
///
/// The **state** is public: only user actions and the end of a pass change it. The **phase** is internal: it says how far the
/// current attempt has got. A request finishes with a *pass*: all of its serializers run, then all of its handlers are called.
/// The phase ensures that only one pass runs at a time, that either a retry or a pass follows a failed attempt, and that a
/// request that is cancelled while a retrier decides, or while a retry is pending, still has its pass.
struct RequestMachine: Equatable {
    /// The progress of the current attempt.
    enum Phase: Equatable {
        /// Nothing has begun.
        case idle
        /// The request is being converted and adapted, and the body of an upload is being created.
        case preparing
        /// The attempt has a task, which has not ended.
        case loading
        /// A retrier decides whether to retry. The number identifies the question, so that late answers are recognized.
        case deciding(Int)
        /// A retry was granted and has not begun.
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
        /// The task has not completed.
        case live
        case completed
    }

    /// An event in the life of a request.
    enum Event {
        /// The program, or automatic resumption, resumes, suspends or cancels the request. The status is that of the latest task.
        case resume(TaskStatus)
        case suspend(TaskStatus)
        case cancel(TaskStatus)
        /// The step that follows `Action.cancelWithoutTask` runs on the root queue.
        case cancellationArrived
        /// A handler was added.
        case handlerAdded
        /// The first attempt begins.
        case prepare
        /// The attempt's task was created.
        case taskCreated
        /// The attempt has failed. A retrier may be asked.
        case attemptFailed
        /// A serializer has failed. A retrier may be asked.
        case serializerFailed
        /// The retrier grants a retry. As in the next two cases, the number is that of the question.
        case retryGranted(Int)
        /// The retrier refuses to retry a failed attempt. The phase is `loading` again, from which `finish` begins the pass.
        case retryRefused(Int)
        /// The retrier refuses to retry after a serializer has failed.
        case serializerRetryRefused(Int)
        /// The delay of a granted retry has passed: the next attempt begins.
        case retryDue
        /// The session or the request itself finishes the request without another attempt.
        case finish
        /// All serializers have run.
        case serialized
    }

    /// The action that `Request` performs after an event.
    enum Action: Equatable {
        /// Do nothing: the event has no effect in the present state.
        case ignore
        /// Do nothing but report the event: state or phase have changed.
        case accept
        /// Let the session prepare the first attempt.
        case runPipeline
        case resumeTask
        case suspendTask
        case cancelTask
        /// The request is cancelled and has no live task. Send `cancellationArrived` in a step on the root queue.
        case cancelWithoutTask
        /// Ask the retriers, and send the number with their answer.
        case askRetrier(Int)
        /// Continue: the attempt begins, the retrier's answer is accepted, or the pass has ended.
        case proceed
        /// Run all serializers, beginning with the first, and report the end of the request to the monitors.
        case beginPass
        /// Run the serializers of handlers that were added after the pass. The monitors get no report.
        case beginLatePass
        /// Resume the request if it resumes automatically: a handler was added.
        case offerResume
    }

    private(set) var state = Request.State.initialized
    private(set) var phase = Phase.idle
    /// The number of questions put to retriers, which is also the number of the latest question.
    private var questionCount = 0

    /// Whether the handlers have been called. Only an added handler leads out of this phase.
    var isOver: Bool { phase == .over }

    /// Whether an attempt is being prepared and may create its task.
    var mayCreateTask: Bool { phase == .preparing && state != .cancelled }

    /// Changes state and phase, and returns the action to perform. The only transition function.
    mutating func receive(_ event: Event) -> Action {
        switch event {
        case .resume(let task): resume(task)
        case .suspend(let task): suspend(task)
        case .cancel(let task): cancel(task)
        case .cancellationArrived: cancellationArrived()
        case .handlerAdded: handlerAdded()
        case .prepare: beginAttempt(isDue: phase == .idle)
        case .taskCreated: taskCreated()
        case .attemptFailed: failed(isInProgress: phase == .preparing || phase == .loading)
        case .serializerFailed: failed(isInProgress: phase == .finishing)
        case .retryGranted(let number): answered(number, next: .retryPending)
        case .retryRefused(let number): answered(number, next: .loading)
        case .serializerRetryRefused(let number): answered(number, next: .finishing)
        case .retryDue: beginAttempt(isDue: phase == .retryPending)
        case .finish: finish()
        case .serialized: serialized()
        }
    }

    // MARK: user actions

    private mutating func resume(_ task: TaskStatus) -> Action {
        switch state {
        case .initialized, .suspended: state = .resumed
        case .resumed, .cancelled, .finished: return .ignore
        }
        switch task {
        case .none: return .runPipeline
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
        case (.loading, .live), (.finishing, .live), (.over, .live): return .cancelTask
        case (_, .none), (_, .completed), (.idle, _), (.preparing, _), (.deciding, _),
            (.retryPending, _):
            return .cancelWithoutTask
        }
    }

    /// Begins a pass. A running pass continues, and the task of a running load is about to report its end.
    private mutating func cancellationArrived() -> Action {
        switch phase {
        case .idle, .preparing, .deciding, .retryPending:
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
        case .initialized, .suspended: return .offerResume
        case .resumed, .cancelled, .finished: return .ignore
        }
    }

    // MARK: the attempt

    /// Begins an attempt, unless the request was cancelled: then `cancellationArrived` finishes it.
    private mutating func beginAttempt(isDue: Bool) -> Action {
        guard isDue, state != .cancelled else { return .ignore }
        phase = .preparing
        return .proceed
    }

    /// A task that is created after the cancellation, or after the attempt has ended otherwise, is resumed and cancelled, so that
    /// it reports its end.
    private mutating func taskCreated() -> Action {
        guard phase == .preparing else { return .cancelTask }
        phase = .loading
        switch state {
        case .initialized, .finished: return .accept
        case .resumed: return .resumeTask
        case .suspended: return .suspendTask
        case .cancelled: return .cancelTask
        }
    }

    /// Asks a retrier, unless the request was cancelled. A cancelled request that has no task is finished by
    /// `cancellationArrived`.
    ///
    /// - Parameter isInProgress: Whether the attempt or pass that has failed is still in progress; otherwise the failure is
    ///   ignored.
    private mutating func failed(isInProgress: Bool) -> Action {
        guard isInProgress else { return .ignore }
        guard state != .cancelled else { return phase == .preparing ? .ignore : .proceed }
        questionCount += 1
        phase = .deciding(questionCount)
        return .askRetrier(questionCount)
    }

    /// Accepts the answer of a retrier to question `number`. Ignores an answer that is repeated or late, as each answer is after
    /// a cancellation: `cancellationArrived` then finishes the request.
    private mutating func answered(_ number: Int, next: Phase) -> Action {
        guard phase == .deciding(number), state != .cancelled else { return .ignore }
        phase = next
        return .proceed
    }

    // MARK: the pass

    private mutating func finish() -> Action {
        switch phase {
        case .idle, .preparing, .loading, .deciding, .retryPending:
            phase = .finishing
            return .beginPass
        case .finishing, .over: return .ignore
        }
    }

    private mutating func serialized() -> Action {
        guard phase == .finishing else { return .ignore }
        phase = .over
        switch state {
        case .initialized, .resumed, .suspended: state = .finished
        case .cancelled, .finished: break
        }
        return .proceed
    }
}
