// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// Callbacks: queues calls, questions and content in the task's `TaskDelivery`, and runs them on the delegate queue.
extension TaskCore {
    /// Queues a call of the delegate. The call is dropped if the task is cancelled before it is made.
    func call(_ call: @escaping @Sendable (CallbackContext) -> Void) {
        if state.withLock({ $0.delivery.add(.call(call)) }) { requestTurn() }
    }

    /// Queues a call that is made on the delegate queue even if the task is cancelled or has completed.
    func callUnconditionally(_ call: @escaping @Sendable () -> Void) {
        if state.withLock({ $0.delivery.add(.unconditional(call)) }) { requestTurn() }
    }

    /// Queues a question for the delegate. Later steps wait for the answer.
    ///
    /// - Parameters:
    ///   - fallback: The answer if the task is cancelled before there is one.
    ///   - question: Calls the delegate with a completion handler.
    ///   - completion: Receives the answer: once, on any thread, and before any step behind the question is run.
    func ask<Answer: Sendable>(
        fallback: Answer,
        _ question: @escaping @Sendable (CallbackContext, @escaping @Sendable (Answer) -> Void) -> Void,
        completion: @escaping @Sendable (Answer) -> Void
    ) {
        let answer = OneAnswer(completion)
        ask(
            ClosureQuestion(
                ask: { context, openQuestion in
                    question(context) { given in
                        answer.give(given)
                        self.answered(openQuestion)
                    }
                },
                abandon: { answer.give(fallback) }))
    }

    /// Queues a question for the delegate. Later steps wait until `answered` is called.
    func ask(_ question: some TaskQuestion) {
        let (isQueued, needsTurn) = state.withLock { $0.delivery.ask(question) }
        if !isQueued { question.abandon() }
        if needsTurn { requestTurn() }
    }

    /// Marks a question as answered, so that the steps behind it are run.
    func answered(_ question: some TaskQuestion) {
        let needsTurn = state.withLock { state in
            let needsTurn = state.delivery.answered(question)
            // The Swift tasks that could have answered no longer have to be cancelled together with this task.
            if !state.asyncAnswers.isEmpty, !state.delivery.isAsking { state.asyncAnswers = [] }
            return needsTurn
        }
        if needsTurn { requestTurn() }
    }

    /// Queues a piece of content for `TaskSink.deliver`. Returns the demand for the load: `.pause` if much content is queued.
    func queue(_ data: Data) -> Demand {
        let (needsTurn, pauses) = state.withLock { $0.delivery.add(data) }
        if needsTurn { requestTurn() }
        return pauses ? .pause : .more
    }

    /// Holds content back, or delivers it again. While content is held, the load stops reading when much of it is queued.
    func holdContent(_ isHeld: Bool) {
        if state.withLock({ $0.delivery.holdContent(isHeld) }) { requestTurn() }
    }

    /// Declares that the delegate only collects the content, so that pieces may be joined. If there is a consumer, it gets the
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
        let (dropped, needsTurn) = drop { $0.delivery.abandonOpenQuestion() }
        release(dropped)
        if needsTurn { requestTurn() }
    }

    /// Applies `change`, which drops steps, and returns those steps, for `release`. They may hold objects of the program's, which
    /// must not be deallocated on the calling thread.
    private func drop(
        _ change: (inout State) -> (abandoned: [any TaskQuestion], needsTurn: Bool)
    ) -> (DroppedCalls, needsTurn: Bool) {
        let (result, delivery, cause) = state.withLock { state in
            // Copies of what `change` replaces: they retain the dropped steps.
            let (delivery, cause) = (state.delivery, state.outcome?.cause)
            return (change(&state), delivery, cause)
        }
        return (DroppedCalls(result.abandoned, delivery, cause), result.needsTurn)
    }

    /// Abandons the dropped questions, and releases the dropped steps on the delegate queue. Without a question, nothing was
    /// dropped.
    private func release(_ dropped: DroppedCalls) {
        if dropped.isEmpty { return }
        abandon(dropped.abandoned)
        queue?.add { dropped.releaseContents() }
    }

    /// Drops the queued steps after a cancellation: only the end is reported (U-5.3). Dropped steps may hold objects of the
    /// program's, which are released outside of the lock.
    func dropCalls() {
        // The ignored element retains the dropped steps until the lock is released.
        let ((abandoned, needsTurn), _) = state.withLock { state in
            let previous = state.delivery
            return (state.delivery.cancel(), previous)
        }
        abandon(abandoned)
        if needsTurn { requestTurn() }
    }

    /// Adds a turn of this task to the delegate queue.
    private func requestTurn() { queue?.add { self.runTurn() } }

    /// Whether the task has a delegate.
    var hasDelegate: Bool { state.withLock { $0.ownDelegates != nil || $0.sessionHasDelegate } }

    /// Records the end of the load, and requests the turn that finishes the task. The task finishes on the calling thread instead
    /// if its consumer is the only listener, or if it has no delegate and its sink completes on any thread.
    func end(_ error: (any Error)?, _ metrics: URLSessionTaskMetrics) {
        if let sink = state.withLock({ $0.sink }) as? DelegateSink, let consumer = sink.onlyListener,
            endDirectly(consumer, error, metrics)
        {
            return
        }
        let needsQueue = hasDelegate
        let (needsTurn, isDirect, isAsking) = state.withLock { state in
            guard state.outcome == nil else { return (false, false, false) }
            state.outcome = Outcome(cause: error, metrics: metrics)
            let isAsking = state.delivery.isAsking
            return (state.delivery.end(), !needsQueue && state.sink.completesOnAnyThread, isAsking)
        }
        if isAsking { limitWaitForAnswer() }
        if !needsTurn { return }
        guard isDirect else { return requestTurn() }
        // The resumed caller may release the task and the session at once. The queue retains them, so that objects which the
        // program attached to them are deallocated there and not on this thread.
        let session = state.withLock { $0.session }
        queue?.add { withExtendedLifetime((self, session)) {} }
        runTurn(onAnyThread: true)
    }

    /// Completes the task for its consumer on the calling thread, and returns true. Does nothing and returns false if the load
    /// has ended before, if a step or turn is queued, or if the task has a delegate of its own or a progress object.
    private func endDirectly(
        _ consumer: any TaskConsumer, _ cause: (any Error)?, _ metrics: URLSessionTaskMetrics
    ) -> Bool {
        let completion = state.withLock { state -> State.Completion? in
            guard state.outcome == nil, state.ownDelegates == nil, state.progress == nil,
                state.delivery.endDirectly()
            else { return nil }
            state.outcome = Outcome(cause: cause, metrics: metrics, error: cause)
            return state.complete()
        }
        guard let completion else { return false }
        completion.alarm?()
        consumer.end(completion.error, metrics)
        if let participants = state.withLock({ $0.takeParticipants() }) {
            participants.session.core.taskFinished(identifier, of: participants.session)
        }
        return true
    }

    /// Limits the wait for the delegate's answer after the end of the load to the resource time-out (U-5.10).
    private func limitWaitForAnswer() {
        guard let load = state.withLock({ $0.load }) else { return }
        let cancel = load.atResourceTimeout { [weak self] error in self?.answerTimedOut(error) }
        let isUnneeded = state.withLock { state in
            if state.load == nil || state.alarm != nil { return true }
            state.alarm = cancel
            return false
        }
        if isUnneeded { cancel() }
    }

    /// The resource time-out has expired after the end of the load: abandons the questions, and the task completes with `error`.
    private func answerTimedOut(_ error: URLError) {
        let (dropped, needsTurn) = drop { state in
            if state.delivery.hasQuestion { state.outcome?.cause = error }
            return state.delivery.expire()
        }
        release(dropped)
        if needsTurn { requestTurn() }
    }

    /// Runs everything that is ready, on the delegate queue.
    ///
    /// - Parameter onAnyThread: Whether the calling thread is not the delegate queue's. Steps that may call the program then
    ///   remain for the queue.
    private func runTurn(onAnyThread: Bool = false) {
        var context: CallbackContext?
        while true {
            // The participants are nil unless this is the first step, or the previous one has converted the task, as a delegate's
            // `.becomeDownload` does.
            let (action, participants) = state.withLock { state in
                if onAnyThread, state.ownDelegates != nil || state.delivery.isNextUnconditional {
                    // No action: the rest runs on the delegate queue.
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
                let (cause, sink) = state.withLock { ($0.outcome?.cause, $0.sink) }
                if let error = sink.ended(self, cause) { state.withLock { $0.outcome?.error = error } }
            case .finish: if let context { finish(context) }
            }
        }
    }

    /// Asks the question. If the load has ended and the delegate has not answered when it returns, limits the wait.
    private func askDelegates(_ question: any TaskQuestion, _ context: CallbackContext) {
        question.ask(context)
        let needsLimit = state.withLock { state in
            state.outcome != nil && state.alarm == nil && state.delivery.isAsking
        }
        if needsLimit { limitWaitForAnswer() }
    }

    /// Makes the last two calls, metrics and completion (U-5.1), and removes the task from its session.
    private func finish(_ context: CallbackContext) {
        let (metrics, progress, completion) = state.withLock { state in
            (state.outcome?.metrics, state.progress, state.complete())
        }
        completion.alarm?()
        if let progress { Self.complete(progress) }
        if let metrics {
            context.delegates.task?.urlSession(
                context.session, task: context.task, didFinishCollecting: metrics)
        }
        assertNoLockIsHeld()
        completion.sink.completed(context, completion.error)
        // `context` retains the participants, so that they are not deallocated under the lock, nor later by the thread that
        // releases the task.
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
        let alarm: SessionClock.Cancel?
        let loadFactory: TaskCore.LoadFactory?
        let load: (any TaskLoad)?
    }

    /// Moves the task to the state `completed`, and takes its objects out of the state.
    fileprivate mutating func complete() -> Completion {
        error = outcome?.error
        if machine.handle(.finish) == .completeCancelled {
            error = sink.errorOfCancelled(error, URLError.cancelled(url: currentRequest?.url))
        }
        return Completion(
            error: error, sink: sink, alarm: alarm.take(), loadFactory: loadFactory.take(), load: load.take())
    }

    /// Removes and returns the session, the delegates and the sink of a completed task; the sink may hold an object that holds
    /// the task. Returns nil if they have been removed before.
    fileprivate mutating func takeParticipants() -> CallbackContext.Participants? {
        defer { (publicTask, session, ownDelegates, sink) = (nil, nil, nil, DelegateSink.shared) }
        guard let publicTask, let session else { return nil }
        return CallbackContext.Participants(session: session, task: publicTask, sink: sink, own: ownDelegates)
    }
}

/// The dropped steps of a task, until the delegate queue releases them.
private final class DroppedCalls: Sendable {
    private struct Contents: Sendable {
        let abandoned: [any TaskQuestion]
        let delivery: TaskDelivery
        let cause: (any Error)?
    }

    /// Whether no question was dropped.
    let isEmpty: Bool
    private let contents: Lock<Contents?>

    init(_ abandoned: [any TaskQuestion], _ delivery: TaskDelivery, _ cause: (any Error)?) {
        isEmpty = abandoned.isEmpty
        contents = Lock(Contents(abandoned: abandoned, delivery: delivery, cause: cause))
    }

    var abandoned: [any TaskQuestion] { contents.withLock { $0?.abandoned ?? [] } }

    /// Releases the contents on the calling thread.
    func releaseContents() { _ = contents.withLock { $0.take() } }
}
