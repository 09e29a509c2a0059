// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// The callbacks of a task: calls of the delegate, questions to it and content for it. They are queued in the task's
/// `TaskDelivery`. One turn of the task then runs all callbacks that are ready.
///
/// Here and in `TaskDelivery`, a step is one queued callback. A turn is a job on the delegate queue, not one of an event loop.
extension TaskCore {
    /// Queues a call of the delegate. The call is not made if the task is cancelled before.
    func call(_ call: @escaping @Sendable (CallbackContext) -> Void) {
        let needsTurn = state.withLock { $0.delivery.add(.call(call)) }
        if needsTurn { requestTurn() }
    }

    /// Queues a call that is made on the delegate queue in any case, even if the task is cancelled or has completed.
    func callUnconditionally(_ call: @escaping @Sendable () -> Void) {
        let needsTurn = state.withLock { $0.delivery.add(.unconditional(call)) }
        if needsTurn { requestTurn() }
    }

    /// Queues a question for the delegate. The steps behind it wait for the answer.
    ///
    /// - Parameters:
    ///   - fallback: The answer that `completion` receives if the question is abandoned, for example by a cancellation.
    ///   - question: Calls the delegate with a completion handler.
    ///   - completion: Receives the first answer, on any thread, before any step behind the question is run.
    func ask<Answer: Sendable>(
        fallback: Answer,
        _ question: @escaping @Sendable (CallbackContext, @escaping @Sendable (Answer) -> Void) -> Void,
        completion: @escaping @Sendable (Answer) -> Void
    ) {
        let receiver = FirstAnswerReceiver(completion)
        ask(
            ClosureQuestion(
                ask: { context, openQuestion in
                    question(context) { answer in
                        receiver.receive(answer)
                        self.markAnswered(openQuestion)
                    }
                },
                abandon: { receiver.receive(fallback) }))
    }

    /// Queues a question for the delegate. The steps behind it wait until `markAnswered` is called.
    func ask(_ question: some TaskQuestion) {
        let (isQueued, needsTurn) = state.withLock { $0.delivery.ask(question) }
        if !isQueued { question.abandon() }
        if needsTurn { requestTurn() }
    }

    /// Records that a question was answered, so that the steps behind it are run.
    func markAnswered(_ question: some TaskQuestion) {
        let needsTurn = state.withLock { state in
            let needsTurn = state.delivery.markAnswered(question)
            // The question is closed: cancelling this task does not have to cancel the Swift tasks that could have answered.
            if !state.asyncAnswerTasks.isEmpty, !state.delivery.isAsking { state.asyncAnswerTasks = [] }
            return needsTurn
        }
        if needsTurn { requestTurn() }
    }

    /// Queues a piece of content for `TaskSink.deliver`. Returns the demand for the load: `.pause` if much content is queued, or
    /// content is held back; otherwise `.more`.
    func enqueue(_ data: Data) -> Demand {
        let (needsTurn, pauses) = state.withLock { $0.delivery.add(data) }
        if needsTurn { requestTurn() }
        return pauses ? .pause : .more
    }

    /// Holds content back, or delivers it again. While content is held back, the load stops reading at the next piece. Has no
    /// effect after a decision with a greater number.
    func holdContent(_ isHeld: Bool, decision number: Int) {
        let needsTurn = state.withLock { $0.delivery.holdContent(isHeld, decision: number) }
        if needsTurn { requestTurn() }
    }

    /// Declares that the delegate only collects the content. Pieces may then be joined. If there is a consumer, it receives the
    /// content instead of the delegate.
    func collectContent(for consumer: (any TaskConsumer)?, upTo limit: CollectedBodyLimit) {
        let sink = consumer.map { DelegateSink($0, upTo: limit) }
        state.withLock { state in
            state.delegateOnlyCollects = true
            if let sink { state.sink = sink }
        }
    }

    /// Abandons the open question and drops the steps behind it, because the load has timed out or was cancelled.
    func abandonOpenQuestion() {
        let (dropped, needsTurn) = dropSteps { $0.delivery.abandonOpenQuestion() }
        abandonAndRelease(dropped)
        if needsTurn { requestTurn() }
    }

    /// Applies `change`, which drops steps, and returns the dropped steps and whether a turn has to be requested. The caller
    /// passes the steps to `abandonAndRelease`. They may retain objects of the program, which must not be deallocated on the
    /// calling thread.
    private func dropSteps(
        _ change: (inout State) -> (abandoned: [any TaskQuestion], needsTurn: Bool)
    ) -> (dropped: DroppedCalls, needsTurn: Bool) {
        let (result, delivery, cause) = state.withLock { state in
            // Copies of the members that `change` replaces. They retain the dropped steps.
            let (delivery, cause) = (state.delivery, state.outcome?.cause)
            return (change(&state), delivery, cause)
        }
        return (DroppedCalls(result.abandoned, delivery, cause), result.needsTurn)
    }

    /// Abandons the dropped questions, and releases the dropped steps on the delegate queue.
    private func abandonAndRelease(_ dropped: DroppedCalls) {
        // Steps are dropped only together with a question.
        if dropped.isEmpty { return }
        abandon(dropped.abandoned)
        queue?.add { dropped.releaseContents() }
    }

    /// Drops the queued steps after a cancellation, so that only the end is reported (U-5.3). Dropped steps may retain objects of
    /// the program, which are released outside of the lock.
    func dropCalls() {
        // The ignored element retains the dropped steps until the lock is released.
        let ((abandoned, needsTurn), _) = state.withLock { state in
            let previous = state.delivery
            return (state.delivery.cancel(), previous)
        }
        abandon(abandoned)
        if needsTurn { requestTurn() }
    }

    /// Adds a job to the delegate queue that runs the ready steps of this task.
    private func requestTurn() { queue?.add { self.runTurn() } }

    /// Whether the task or its session has a delegate.
    var hasDelegate: Bool { state.withLock { $0.ownDelegates != nil || $0.sessionHasDelegate } }

    /// Records the end of the load, and requests the turn on the delegate queue that finishes the task. In two cases the task
    /// finishes on the calling thread instead: if its consumer is the only listener, or if it has no delegate and its sink may
    /// complete on any thread.
    func end(_ error: (any Error)?, _ metrics: URLSessionTaskMetrics) {
        // `onlyListener` is nil if the delegate receives the calls.
        if let sink = state.withLock({ $0.sink }) as? DelegateSink, let consumer = sink.onlyListener,
            endForConsumer(consumer, error, metrics)
        {
            return
        }
        let needsQueue = hasDelegate
        let (needsTurn, isDirect, isAsking) = state.withLock { state in
            // Only the first end counts.
            guard state.outcome == nil else { return (false, false, false) }
            state.outcome = Outcome(cause: error, metrics: metrics)
            let isAsking = state.delivery.isAsking
            return (state.delivery.end(), !needsQueue && state.sink.completesOnAnyThread, isAsking)
        }
        if isAsking { limitWaitForAnswer() }
        if !needsTurn { return }
        // The turn has to run: on the delegate queue, or here if that calls no code of the program.
        guard isDirect else { return requestTurn() }
        // The Swift task that awaits the end may release the task and the session at once. The queue retains them a little
        // longer, so that objects which the program has attached to them are deallocated on the queue and not on this thread.
        let session = state.withLock { $0.session }
        queue?.add { withExtendedLifetime((self, session)) {} }
        runTurn(onAnyThread: true)
    }

    /// Completes the task for its consumer on the calling thread, and returns true. Does nothing and returns false if the load
    /// has ended before, if a step or turn is queued, or if the task has a delegate of its own or a progress object.
    private func endForConsumer(
        _ consumer: any TaskConsumer, _ cause: (any Error)?, _ metrics: URLSessionTaskMetrics
    ) -> Bool {
        let completion = state.withLock { state -> State.Completion? in
            guard state.outcome == nil, state.ownDelegates == nil, state.progress == nil,
                state.delivery.finishWithoutTurn()
            else { return nil }
            state.outcome = Outcome(cause: cause, metrics: metrics, error: cause)
            return state.complete()
        }
        guard let completion else { return false }
        completion.cancelAnswerTimeout?()
        consumer.end(completion.error, metrics)
        if let participants = state.withLock({ $0.takeParticipants() }) {
            participants.session.core.taskFinished(identifier, of: participants.session)
        }
        return true
    }

    /// After the end of the load, limits the wait for the delegate's answer: it ends when the resource time-out expires (U-5.10).
    private func limitWaitForAnswer() {
        guard let load = state.withLock({ $0.load }) else { return }
        let cancel = load.atResourceTimeout { [weak self] error in self?.answerTimedOut(error) }
        // The task may have finished, or have set a limit on another thread, meanwhile.
        let isUnneeded = state.withLock { state in
            if state.load == nil || state.cancelAnswerTimeout != nil { return true }
            state.cancelAnswerTimeout = cancel
            return false
        }
        if isUnneeded { cancel() }
    }

    /// Called when the resource time-out expires after the end of the load. Abandons the open and queued questions; the task then
    /// completes with `error`.
    private func answerTimedOut(_ error: URLError) {
        let (dropped, needsTurn) = dropSteps { state in
            if state.delivery.hasQuestion { state.outcome?.cause = error }
            return state.delivery.abandonQuestions()
        }
        abandonAndRelease(dropped)
        if needsTurn { requestTurn() }
    }

    /// Runs the queued callbacks, the steps, as long as one is ready. Called on the delegate queue, unless `onAnyThread` is true.
    ///
    /// - Parameter onAnyThread: Whether the calling thread may be another one than the delegate queue's. Steps that may call the
    ///   program then remain for the queue.
    private func runTurn(onAnyThread: Bool = false) {
        var context: CallbackContext?
        while true {
            // The participants are the session, task, sink and delegate that a callback needs. They are nil if unchanged since
            // `context` was made. They change if a step converts the task, as the answer `.becomeDownload` does.
            let (action, participants) = state.withLock { state in
                if onAnyThread, state.ownDelegates != nil || state.delivery.isNextUnconditional {
                    // No action: the remaining steps run on the delegate queue.
                    return (TaskDelivery.Action?.none, CallbackContext.Participants?.none)
                }
                let action = state.delivery.takeNext()
                return (action, state.participants(ifNewSince: context))
            }
            guard let action else { return requestTurn() }
            if let participants { context = CallbackContext(participants) }
            assertNoLockIsHeld()
            switch action {
            case .unconditional(let call): call()
            case .stop: return
            case .call(let call): if let context { call(context) }
            case .question(let question): if let context { askDelegates(question, context) }
            case .data(let data, let resumes):
                if resumes { resumeReading() }
                if let context { context.sink.deliver(data, context) }
            case .end:
                // The sink may queue more calls and content before it returns the task's error.
                let (cause, sink) = state.withLock { ($0.outcome?.cause, $0.sink) }
                if let error = sink.ended(self, cause) { state.withLock { $0.outcome?.error = error } }
            case .finish: if let context { finish(context) }
            }
        }
    }

    /// Asks the question. If the load has ended and the delegate has not answered during the call, limits the wait for the
    /// answer.
    private func askDelegates(_ question: any TaskQuestion, _ context: CallbackContext) {
        question.ask(context)
        let needsLimit = state.withLock { state in
            state.outcome != nil && state.cancelAnswerTimeout == nil && state.delivery.isAsking
        }
        if needsLimit { limitWaitForAnswer() }
    }

    /// Makes the last two calls, metrics and completion (U-5.1), and removes the task from its session.
    private func finish(_ context: CallbackContext) {
        let (metrics, progress, completion) = state.withLock { state in
            (state.outcome?.metrics, state.progress, state.complete())
        }
        completion.cancelAnswerTimeout?()
        if let progress { Self.complete(progress) }
        if let metrics {
            context.delegates.task?.urlSession(
                context.session, task: context.task, didFinishCollecting: metrics)
        }
        assertNoLockIsHeld()
        completion.sink.completed(context, completion.error)
        // `context` retains the participants until this method returns. They are therefore not deallocated under the lock, nor
        // later on the thread that releases the task.
        // Nil if the task has been removed from its session before.
        if state.withLock({ $0.takeParticipants() }) != nil {
            context.session.core.taskFinished(identifier, of: context.session)
        }
    }
}

extension TaskCore.State {
    /// The objects that a completed task calls for the last time and releases, outside of the lock.
    fileprivate struct Completion: Sendable {
        let error: (any Error)?
        let sink: any TaskSink
        /// Cancels the time limit for the delegate's answer.
        let cancelAnswerTimeout: SessionClock.Cancel?
        let loadFactory: TaskCore.LoadFactory?
        let load: (any TaskLoad)?
    }

    /// Moves the task to the state `completed`. Removes and returns the objects that the task does not need after that.
    fileprivate mutating func complete() -> Completion {
        error = outcome?.error
        let action = machine.handle(.finish)
        if action == .completeCancelled {
            error = sink.errorOfCancelledTask(error, URLError.cancelled(url: currentRequest?.url))
        }
        return Completion(
            error: error, sink: sink, cancelAnswerTimeout: cancelAnswerTimeout.take(),
            loadFactory: loadFactory.take(), load: load.take())
    }

    /// Removes and returns the session, the delegates and the sink of a completed task. The sink is replaced by one without
    /// state, because it may retain an object that retains the task. Returns nil if this was called before.
    fileprivate mutating func takeParticipants() -> CallbackContext.Participants? {
        defer { (publicTask, session, ownDelegates, sink) = (nil, nil, nil, DelegateSink.shared) }
        guard let publicTask, let session else { return nil }
        return CallbackContext.Participants(
            session: session, task: publicTask, sink: sink, ownDelegates: ownDelegates)
    }
}

/// Retains the dropped steps of a task until the delegate queue releases them.
private final class DroppedCalls: Sendable {
    private struct Contents: Sendable {
        /// The dropped questions.
        let abandoned: [any TaskQuestion]
        /// The delivery before the change, which retains the dropped steps.
        let delivery: TaskDelivery
        /// The replaced error of the load.
        let cause: (any Error)?
    }

    /// Whether no question was dropped.
    let isEmpty: Bool
    private let contents: Lock<Contents?>

    init(_ abandoned: [any TaskQuestion], _ delivery: TaskDelivery, _ cause: (any Error)?) {
        isEmpty = abandoned.isEmpty
        contents = Lock(Contents(abandoned: abandoned, delivery: delivery, cause: cause))
    }

    /// The dropped questions; empty after `releaseContents`.
    var abandoned: [any TaskQuestion] { contents.withLock { $0?.abandoned ?? [] } }

    /// Releases the contents on the calling thread, outside of the lock.
    func releaseContents() { _ = contents.withLock { $0.take() } }
}
