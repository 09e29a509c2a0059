// SPDX-License-Identifier: MIT

/// Decides what a request does next; `Request` does it. A value without locks, queues or clocks.
///
/// Two things are kept apart: the **state**, which users see and which only they and the end of a pass change, and the **phase**,
/// which is how far the current attempt is. A request comes to its end through a *pass* over its serializers; the phase
/// makes sure that one pass runs at a time, that a failed attempt is followed either by a retry or by a pass, and that a
/// request that is cancelled while a retrier thinks, or while a retry waits, has its pass all the same.
struct RequestMachine: Equatable {
    /// How far the current attempt is.
    enum Phase: Equatable {
        /// Nothing has begun.
        case idle
        /// The request is being converted and adapted, and what it uploads is being made.
        case preparing
        /// There is a task whose end is to come.
        case loading
        /// A retrier was asked; the number tells its answer from one that comes too late.
        case deciding(Int)
        /// A retry was granted and has not begun.
        case waiting
        /// The serializers run.
        case finishing
        /// The pass has ended and the handlers have been called.
        case over
    }

    /// How the latest task stands.
    enum Standing {
        case none
        case live
        case completed
    }

    /// What happens to a request.
    enum Event {
        /// The user, or automatic resumption, resumes, suspends or cancels.
        case resume(Standing)
        case suspend(Standing)
        case cancel(Standing)
        /// A cancellation that had no task to cancel is looked at again, on the root queue.
        case cancellationArrived
        /// A handler was added.
        case handlerAdded
        /// The first attempt begins.
        case prepare
        /// The attempt's task was made.
        case taskMade
        /// The attempt has failed, and a retrier is there to be asked.
        case attemptFailed
        /// The same of a serializer.
        case serializerFailed
        /// The retrier grants a retry, or refuses it to an attempt or to a serializer.
        case granted(Int)
        case refused(Int)
        case serializerRefused(Int)
        /// The retry that was granted is due: the next attempt begins.
        case retryDue
        /// The attempt has come to its end for good.
        case finish
        /// No serializer is left.
        case serialized
    }

    /// What is to be done about it.
    enum Action: Equatable {
        /// Nothing at all: the event has no effect where the request stands.
        case ignore
        /// The state has changed, and there is no more to do.
        case note
        /// The pipeline is to run.
        case perform
        case resumeTask
        case suspendTask
        case cancelTask
        /// A cancellation without a task to cancel: `cancellationArrived` follows on the root queue.
        case arrive
        /// The retrier is to be asked; the number comes back with its answer.
        case ask(Int)
        /// What was decided holds: a retry begins, or a failure is final.
        case proceed
        /// A pass begins, from the first serializer, and is announced.
        case beginPass
        /// A pass over the handlers that were added behind the end begins; it is not announced.
        case beginLatePass
        /// The request may be resumed because of its new handler.
        case offerResume
    }

    private(set) var state = Request.State.initialized
    private(set) var phase = Phase.idle
    private var questions = 0

    /// Whether the handlers have been called and nothing more is to come, unless a handler is added.
    var isOver: Bool { phase == .over }

    /// Whether an attempt is on its way to a task.
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

    // MARK: what users do

    private mutating func resume(_ task: Standing) -> Action {
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

    private mutating func suspend(_ task: Standing) -> Action {
        switch state {
        case .initialized, .resumed: state = .suspended
        case .suspended, .cancelled, .finished: return .ignore
        }
        switch task {
        case .live: return .suspendTask
        case .none, .completed: return .note
        }
    }

    private mutating func cancel(_ task: Standing) -> Action {
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

    /// A pass that runs goes on, and so does a load whose task is about to say that it has ended.
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

    /// A cancelled request has no further attempt: its cancellation brings it to its end.
    private mutating func begin(isDue: Bool) -> Action {
        guard isDue, state != .cancelled else { return .ignore }
        phase = .preparing
        return .proceed
    }

    /// A task that a cancellation has overtaken is resumed and cancelled, so that it tells its end.
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

    /// What has failed is what is going on, unless the request came to its end some other way before. Without a task, the
    /// cancellation of a cancelled request is about to arrive.
    private mutating func failed(_ isGoingOn: Bool) -> Action {
        guard isGoingOn else { return .ignore }
        guard state != .cancelled else { return phase == .preparing ? .ignore : .proceed }
        questions += 1
        phase = .deciding(questions)
        return .ask(questions)
    }

    /// What the answer says holds, unless it comes twice or too late. It is too late when the request was cancelled: then the
    /// cancellation is about to arrive, and brings the request to its end.
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
