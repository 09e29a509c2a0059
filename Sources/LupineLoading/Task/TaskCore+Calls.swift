// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// Callbacks: runs the steps that wait in the task's delivery on the delegate queue.
extension TaskCore {
    /// Queues a call of the delegate. It is dropped if the task is cancelled before.
    func call(_ call: @escaping @Sendable (CallbackContext) -> Void) {
        if state.withLock({ $0.delivery.add(.call(call)) }) { requestTurn() }
    }

    /// Queues a call that is made on the delegate queue whatever becomes of the task.
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
                ask: { context, open in
                    question(context) { given in
                        answer.give(given)
                        self.answered(open)
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
            if !state.asyncAnswers.isEmpty, !state.delivery.isAsking { state.asyncAnswers = [] }
            return needsTurn
        }
        if needsTurn { requestTurn() }
    }

    /// Queues a piece of content, which the sink delivers in its turn (`TaskSink.deliver`). Returns whether the load has to
    /// pause.
    func queue(_ data: Data) -> Demand {
        let (needsTurn, pauses) = state.withLock { $0.delivery.add(data) }
        if needsTurn { requestTurn() }
        return pauses ? .pause : .more
    }

    /// Holds content back, in which case the load stops reading when much of it waits, or lets it go on.
    func holdContent(_ isHeld: Bool) {
        if state.withLock({ $0.delivery.holdContent(isHeld) }) { requestTurn() }
    }

    /// Declares that the delegate does not look at single pieces. A consumer gets the content in place of the delegate.
    func collectContent(for consumer: (any TaskConsumer)?, upTo limit: CollectedBodyLimit) {
        let sink = consumer.map { DelegateSink($0, upTo: limit) }
        state.withLock { state in
            state.delegateOnlyCollects = true
            if let sink { state.sink = sink }
        }
    }

    /// Abandons the open question, because the load has timed out or was cancelled.
    func abandonOpenQuestion() {
        let (dropped, needsTurn) = drop { $0.delivery.abandonOpenQuestion() }
        release(dropped)
        if needsTurn { requestTurn() }
    }

    /// Changes the delivery, and returns what was dropped. That may hold objects of the program's, which must not be
    /// deallocated by the calling thread.
    private func drop(
        _ change: (inout State) -> (abandoned: [any TaskQuestion], needsTurn: Bool)
    ) -> (DroppedCalls, needsTurn: Bool) {
        let (result, delivery, cause) = state.withLock { state in
            let before = (state.delivery, state.outcome?.cause)
            return (change(&state), before.0, before.1)
        }
        return (DroppedCalls(result.abandoned, delivery, cause), result.needsTurn)
    }

    /// Abandons the dropped questions, and releases what was dropped on the delegate queue.
    private func release(_ dropped: DroppedCalls) {
        if dropped.isEmpty { return }
        abandon(dropped.abandoned)
        queue?.add { dropped.releaseContents() }
    }

    /// After a cancellation only the end is reported (U-5.3). Dropped steps hold objects of the program's, so they are released
    /// outside of the lock, here and when a question is broken off.
    func dropCalls() {
        let ((abandoned, needsTurn), _) = state.withLock { state in
            let before = state.delivery
            return (state.delivery.cancel(), before)
        }
        abandon(abandoned)
        if needsTurn { requestTurn() }
    }

    private func requestTurn() { queue?.add { self.runTurn() } }

    /// Whether the task has a delegate.
    var hasDelegate: Bool { state.withLock { $0.own != nil || $0.sessionHasDelegate } }

    /// Ends the load. Without a delegate, the caller that waits for the task is resumed from here at once.
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
        // The resumed caller may release everything at once. What the program attached to session and request is then
        // deallocated on the queue, not here.
        let session = state.withLock { $0.session }
        queue?.add { withExtendedLifetime((self, session)) {} }
        runTurn(isAnywhere: true)
    }

    /// Ends the task for its only listener, on the calling thread, unless something still waits for the delegate queue. Returns
    /// whether it was ended.
    private func endDirectly(
        _ consumer: any TaskConsumer, _ cause: (any Error)?, _ metrics: URLSessionTaskMetrics
    ) -> Bool {
        let completion = state.withLock { state -> State.Completion? in
            guard state.outcome == nil, state.own == nil, state.progress == nil,
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

    /// Limits the wait for the delegate's answer when the load has ended: only the resource time-out ends it (U-5.10).
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
    /// - Parameter isAnywhere: True on any other thread; steps that may call the program are then left to the queue.
    private func runTurn(isAnywhere: Bool = false) {
        var context: CallbackContext?
        while true {
            // The participants: looked up once, and again when the task has been converted.
            let (turn, participants) = state.withLock { state in
                if isAnywhere, state.own != nil || state.delivery.isNextUnconditional {
                    return (TaskDelivery.Action?.none, CallbackContext.Participants?.none)
                }
                let turn = state.delivery.takeNext()
                return (turn, state.participants(besides: context))
            }
            guard let turn else { return requestTurn() }
            if let participants { context = CallbackContext(participants) }
            assertNoLockIsHeld()
            switch turn {
            case .unconditional(let call): call()
            case .stop: return
            case .call(let call): if let context { call(context) }
            case .question(let question): if let context { ask(question, context) }
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

    /// Asks the question, and sets the time limit if the load has ended and there is no answer yet.
    private func ask(_ question: any TaskQuestion, _ context: CallbackContext) {
        question.ask(context)
        let waits = state.withLock { state in
            state.outcome != nil && state.alarm == nil && state.delivery.isAsking
        }
        if waits { limitWaitForAnswer() }
    }

    /// Makes the last two calls (U-5.1), and ends the task for the session.
    private func finish(_ context: CallbackContext) {
        let (metrics, progress, completion) = state.withLock { state in
            (state.outcome?.metrics, state.progress, state.complete())
        }
        completion.alarm?()
        progress.map(Self.complete)
        if let metrics {
            context.delegates.task?.urlSession(
                context.session, task: context.task, didFinishCollecting: metrics)
        }
        assertNoLockIsHeld()
        completion.sink.completed(context, completion.error)
        // `context` still holds all of them: they are deallocated neither under the lock nor by whichever thread releases the
        // task last.
        if state.withLock({ $0.takeParticipants() }) != nil {
            context.session.core.taskFinished(identifier, of: context.session)
        }
    }
}

extension TaskCore.State {
    /// What is released, or called for the last time, when a task completes.
    fileprivate struct Completion: Sendable {
        let error: (any Error)?
        let sink: any TaskSink
        let alarm: SessionClock.Cancel?
        let loadFactory: TaskCore.LoadFactory?
        let load: (any TaskLoad)?
    }

    /// Completes the task.
    fileprivate mutating func complete() -> Completion {
        error = outcome?.error
        if machine.handle(.finish) == .completeCancelled {
            error = sink.errorOfCancelled(error, URLError.cancelled(url: currentRequest?.url))
        }
        return Completion(
            error: error, sink: sink, alarm: alarm.take(), loadFactory: loadFactory.take(), load: load.take())
    }

    /// Lets go of the session and the delegate of a completed task, and of its sink, which may hold an object that holds the
    /// task. Returns them; nil if that has been done before.
    fileprivate mutating func takeParticipants() -> CallbackContext.Participants? {
        defer { (publicTask, session, own, sink) = (nil, nil, nil, DelegateSink.shared) }
        guard let publicTask, let session else { return nil }
        return CallbackContext.Participants(session: session, task: publicTask, sink: sink, own: own)
    }
}

/// The steps that a task has dropped, until they are released on another thread.
private final class DroppedCalls: Sendable {
    private struct Contents: Sendable {
        let abandoned: [any TaskQuestion]
        let delivery: TaskDelivery
        let cause: (any Error)?
    }

    /// Whether there are no questions among them.
    let isEmpty: Bool
    private let contents: Lock<Contents?>

    init(_ abandoned: [any TaskQuestion], _ delivery: TaskDelivery, _ cause: (any Error)?) {
        isEmpty = abandoned.isEmpty
        contents = Lock(Contents(abandoned: abandoned, delivery: delivery, cause: cause))
    }

    var abandoned: [any TaskQuestion] { contents.withLock { $0?.abandoned ?? [] } }

    func releaseContents() { _ = contents.withLock { $0.take() } }
}
