// SPDX-License-Identifier: MIT

/// Decides what a request does next; `Request` does it. A value without locks, queues or clocks.
///
/// It separates the **state**, which users see and which only they and the end of a pass change, from the **phase**, the progress
/// of the current attempt. A request finishes through a *pass* over its serializers. The phase ensures that one pass runs at a
/// time, that a failed attempt is followed either by a retry or by a pass, and that a request that is cancelled while a retrier
/// decides, or while a retry waits, still has its pass.
struct RequestMachine: Equatable {
    /// The progress of the current attempt.
    enum Phase: Equatable {
        /// Nothing has begun.
        case idle
        /// The request is being converted and adapted, and the body of an upload is being created.
        case preparing
        /// There is a task that has not ended.
        case loading
        /// A retrier was asked. The number distinguishes its answer from a late one.
        case deciding(Int)
        /// A retry was granted and has not begun.
        case waiting
        /// The serializers are running.
        case finishing
        /// The pass has ended and the handlers have been called.
        case over
    }

    /// Whether there is a task, and whether the latest one has completed.
    enum TaskStatus {
        case none
        case live
        case completed
    }

    /// An event in the life of a request.
    enum Event {
        /// The user, or automatic resumption, resumes, suspends or cancels.
        case resume(TaskStatus)
        case suspend(TaskStatus)
        case cancel(TaskStatus)
        /// A cancellation without a task to cancel has reached the root queue.
        case cancellationArrived
        /// A handler was added.
        case handlerAdded
        /// The first attempt begins.
        case prepare
        /// The attempt's task was created.
        case taskMade
        /// The attempt has failed and a retrier may be asked.
        case attemptFailed
        /// A serializer has failed and a retrier may be asked.
        case serializerFailed
        /// The retrier grants a retry, or refuses it to an attempt or to a serializer.
        case granted(Int)
        case refused(Int)
        case serializerRefused(Int)
        /// The retry that was granted is due: the next attempt begins.
        case retryDue
        /// The request is to finish without another attempt.
        case finish
        /// All serializers have run.
        case serialized
    }

    /// The action that follows an event.
    enum Action: Equatable {
        /// None: the event has no effect in the present state.
        case ignore
        /// The state has changed; nothing else is to be done.
        case note
        /// The pipeline is to run.
        case perform
        case resumeTask
        case suspendTask
        case cancelTask
        /// A cancellation without a task to cancel: `cancellationArrived` follows on the root queue.
        case arrive
        /// The retrier is to be asked; the number is passed back with its answer.
        case ask(Int)
        /// The transition has been made: an attempt begins, a refusal is final, or the pass has ended.
        case proceed
        /// A pass begins with the first serializer and is reported to the monitors.
        case beginPass
        /// A pass over handlers that were added after the end begins; it is not reported.
        case beginLatePass
        /// The request may be resumed because of its new handler.
        case offerResume
    }

    private(set) var state = Request.State.initialized
    private(set) var phase = Phase.idle
    private var questions = 0

    /// Whether the handlers have been called. Nothing follows unless a handler is added.
    var isOver: Bool { phase == .over }

    /// Whether an attempt is being prepared and may create its task.
    var goesOn: Bool { phase == .preparing && state != .cancelled }

    /// The one transition function.
    mutating func receive(_ event: Event) -> Action {
        switch event {
        case .resume(let task): resume(task)
        case .suspend(let task): suspend(task)
        case .cancel(let task): cancel(task)
        case .cancellationArrived: cancellationArrived()
        case .handlerAdded: handlerAdded()
        case .prepare: begin(isDue: phase == .idle)
        case .taskMade: taskMade()
        case .attemptFailed: failed(phase == .preparing || phase == .loading)
        case .serializerFailed: failed(phase == .finishing)
        case .granted(let number): answer(number, .waiting)
        case .refused(let number): answer(number, .loading)
        case .serializerRefused(let number): answer(number, .finishing)
        case .retryDue: begin(isDue: phase == .waiting)
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
        case .none: return .perform
        case .live: return .resumeTask
        case .completed: return .note
        }
    }

    private mutating func suspend(_ task: TaskStatus) -> Action {
        switch state {
        case .initialized, .resumed: state = .suspended
        case .suspended, .cancelled, .finished: return .ignore
        }
        switch task {
        case .live: return .suspendTask
        case .none, .completed: return .note
        }
    }

    private mutating func cancel(_ task: TaskStatus) -> Action {
        switch state {
        case .initialized, .resumed, .suspended: state = .cancelled
        case .cancelled, .finished: return .ignore
        }
        switch (phase, task) {
        case (.loading, .live), (.finishing, .live), (.over, .live): return .cancelTask
        case (_, .none), (_, .completed), (.idle, _), (.preparing, _), (.deciding, _), (.waiting, _):
            return .arrive
        }
    }

    /// A running pass continues, and so does a load whose task is about to report its end.
    private mutating func cancellationArrived() -> Action {
        switch phase {
        case .idle, .preparing, .deciding, .waiting:
            phase = .finishing
            return .beginPass
        case .loading, .finishing, .over: return .ignore
        }
    }

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

    /// A cancelled request has no further attempt: its cancellation finishes it.
    private mutating func begin(isDue: Bool) -> Action {
        guard isDue, state != .cancelled else { return .ignore }
        phase = .preparing
        return .proceed
    }

    /// A task that was created after a cancellation is resumed and cancelled, so that it reports its end.
    private mutating func taskMade() -> Action {
        guard phase == .preparing else { return .cancelTask }
        phase = .loading
        switch state {
        case .initialized, .finished: return .note
        case .resumed: return .resumeTask
        case .suspended: return .suspendTask
        case .cancelled: return .cancelTask
        }
    }

    /// `isGoingOn` is false if the request has ended in some other way before. If a cancelled request has no task,
    /// `cancellationArrived` is about to follow.
    private mutating func failed(_ isGoingOn: Bool) -> Action {
        guard isGoingOn else { return .ignore }
        guard state != .cancelled else { return phase == .preparing ? .ignore : .proceed }
        questions += 1
        phase = .deciding(questions)
        return .ask(questions)
    }

    /// Accepts the answer of a retrier, unless it is repeated or late. It is late if the request was cancelled: then
    /// `cancellationArrived` is about to follow and finishes the request.
    private mutating func answer(_ number: Int, _ next: Phase) -> Action {
        guard phase == .deciding(number), state != .cancelled else { return .ignore }
        phase = next
        return .proceed
    }

    // MARK: the pass

    private mutating func finish() -> Action {
        switch phase {
        case .idle, .preparing, .loading, .deciding, .waiting:
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
