// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport
import Synchronization

/// Calling back: what waits in the task's delivery is run on the delegate queue; that of a task whose delegate is the library's own, and
/// says so, on the event loop that brings it, when the loop's turn ends.
extension TaskCore {
    /// Has the delegate called, in its turn. Dropped when the task is cancelled before.
    func call(_ call: @escaping @Sendable (TaskStage) -> Void) {
        if state.withLock({ $0.delivery.add(.call(call)) }) { askForTurn() }
    }

    /// Runs something on the delegate queue in its turn, whatever becomes of the task.
    func certainly(_ call: @escaping @Sendable () -> Void) {
        if state.withLock({ $0.delivery.add(.certain(call)) }) { askForTurn() }
    }

    /// Has the delegate asked, in its turn. What comes later waits for the answer.
    ///
    /// - Parameters:
    ///   - fallback: The answer when the task is cancelled before there is one.
    ///   - question: Calls the delegate with a completion handler.
    ///   - taken: Takes the answer: once, on any thread, and before anything that stands behind the question.
    func ask<Answer: Sendable>(
        fallback: Answer,
        _ question: @escaping @Sendable (TaskStage, @escaping @Sendable (Answer) -> Void) -> Void,
        taken: @escaping @Sendable (Answer) -> Void
    ) { ask(fallback: fallback, isForDelegateQueue: true, question, taken: taken) }

    /// The same. `isForDelegateQueue` is false where no code of the program's is asked, unless it has a delegate there.
    func ask<Answer: Sendable>(
        fallback: Answer, isForDelegateQueue: Bool,
        _ question: @escaping @Sendable (TaskStage, @escaping @Sendable (Answer) -> Void) -> Void,
        taken: @escaping @Sendable (Answer) -> Void
    ) {
        let answer = OneAnswer(taken)
        ask(
            ClosureQuestion(
                isForDelegateQueue: isForDelegateQueue,
                ask: { stage, open in
                    question(stage) { given in
                        answer.give(given)
                        self.answered(open)
                    }
                },
                abandon: { answer.give(fallback) }))
    }

    /// Has the delegate asked, in its turn. What comes later waits until the question was `answered`.
    func ask(_ question: some TaskQuestion) {
        let (isIn, needsTurn) = state.withLock { $0.delivery.ask(question) }
        if !isIn { question.abandon() }
        if needsTurn { askForTurn() }
    }

    /// A question has been answered: what stands behind it comes.
    ///
    /// - Parameter mayGoOnHere: Whoever answers holds up nobody, unless it is the program that answers: where the delegate may be called
    ///   anywhere, no queue is needed.
    func answered(_ question: some TaskQuestion, mayGoOnHere: Bool = false) {
        let needsTurn = state.withLock { state in
            let needsTurn = state.delivery.answered(question)
            if !state.forms.isEmpty, !state.delivery.isAsking { state.forms = [] }
            return needsTurn
        }
        if !needsTurn { return }
        // The request had another thread take the step that answers.
        if mayGoOnHere, takesTurnsAnywhere.load(ordering: .relaxed), EventLoop.current == nil {
            return runTurn(isAnywhere: true)
        }
        askForTurn()
    }

    /// Queues a piece of content, which the sink delivers in its turn (`TaskSink.delivers`).
    func queue(_ data: Data) -> Demand {
        let (needsTurn, pauses) = state.withLock { $0.delivery.add(data) }
        if needsTurn { askForTurn() }
        return pauses ? .pause : .more
    }

    /// Content waits, and the load stops reading when much of it does, or it goes on.
    func holdContent(_ isHeld: Bool) {
        if state.withLock({ $0.delivery.holdContent(isHeld) }) { askForTurn() }
    }

    /// Nobody looks at single pieces.
    func collectContent() { state.withLock { $0.isCollected = true } }

    /// The load ended by force while the delegate was being asked: nothing waits for the answer.
    func breakQuestion() {
        let (dropped, needsTurn) = drop { $0.delivery.breakQuestion() }
        giveUp(dropped)
        if needsTurn { askForTurn() }
    }

    /// Changes what waits. What goes by that may be the program's, whose code is not to run where this is called.
    private func drop(
        _ change: (inout State) -> (abandoned: [any TaskQuestion], needsTurn: Bool)
    ) -> (DroppedCalls, needsTurn: Bool) {
        let (result, delivery, cause) = state.withLock { state in
            let before = (state.delivery, state.outcome?.cause)
            return (change(&state), before.0, before.1)
        }
        return (DroppedCalls(result.abandoned, delivery, cause), result.needsTurn)
    }

    /// Nobody waits for the answers to what was dropped, and it is let go of on the delegate queue.
    private func giveUp(_ dropped: DroppedCalls) {
        if dropped.isEmpty { return }
        giveUp(dropped.abandoned)
        queue?.add { dropped.letGo() }
    }

    /// After a cancellation only the end is told (U-5.3). What is dropped goes away outside of the lock, here and where a
    /// question is broken off: it holds what is the program's.
    func dropCalls() {
        let ((abandoned, needsTurn), _) = state.withLock { state in
            let before = state.delivery
            return (state.delivery.cancel(), before)
        }
        giveUp(abandoned)
        if needsTurn { askForTurn() }
    }

    private func askForTurn() {
        guard takesTurnsAnywhere.load(ordering: .relaxed) else { return askForTurnOnQueue() }
        // In the stack of the program's calls nothing is told.
        if let loop = EventLoop.current {
            loop.atTurnEnd(self)
        } else if TaskDriver.isOnQueue {
            runTurn(isAnywhere: true)
        } else {
            askForTurnOnQueue()
        }
    }

    private func askForTurnOnQueue() { queue?.add { self.runTurn() } }

    /// See `URLSessionTask.takeTurnsAnywhere`.
    func takeTurnsAnywhere(_ isAnywhere: Bool) { takesTurnsAnywhere.store(isAnywhere, ordering: .relaxed) }

    /// Whether there is anybody to be called, as long as the task is not finished.
    var hasDelegate: Bool { state.withLock { $0.own != nil || $0.sessionHasDelegate } }

    /// The load is over. Where nobody is to be called, whoever waits for the task hears of it here and now.
    func end(_ error: (any Error)?, _ metrics: URLSessionTaskMetrics) {
        let needsQueue = hasDelegate
        let (needsTurn, isDirect, isAsking) = state.withLock { state in
            guard state.outcome == nil else { return (false, false, false) }
            state.outcome = Outcome(cause: error, metrics: metrics)
            let isAsking = state.delivery.isAsking
            return (state.delivery.end(), !needsQueue && state.sink.completesAnywhere, isAsking)
        }
        if isAsking { watchTime() }
        if !needsTurn { return }
        guard isDirect else { return askForTurn() }
        // Whoever waits may let go of everything at once: what the program attached to session and request goes away on the queue,
        // not here.
        let session = state.withLock { $0.session }
        queue?.add { withExtendedLifetime((self, session)) {} }
        runTurn(isAnywhere: true)
    }

    /// The load has ended, and the delegate has not answered: only the time for the whole load ends that (U-5.10).
    private func watchTime() {
        guard let load = state.withLock({ $0.load }) else { return }
        let cancel = load.whenTimeIsUp { [weak self] error in self?.timeIsUp(error) }
        let isLate = state.withLock { state in
            if state.load == nil || state.alarm != nil { return true }
            state.alarm = cancel
            return false
        }
        if isLate { cancel() }
    }

    private func timeIsUp(_ error: URLError) {
        let (dropped, needsTurn) = drop { state in
            if state.delivery.asks { state.outcome?.cause = error }
            return state.delivery.expire()
        }
        giveUp(dropped)
        if needsTurn { askForTurn() }
    }

    /// Whether code of the program's may be called in what is next.
    private func mayCallProgram(_ state: State) -> Bool {
        state.own != nil || state.delivery.isForDelegateQueue
            || (state.sessionHasDelegate && !takesTurnsAnywhere.load(ordering: .relaxed))
    }

    /// Everything that is ready, on the delegate queue.
    ///
    /// - Parameter isAnywhere: On any other thread; what may call the program meanwhile is left to the queue.
    fileprivate func runTurn(isAnywhere: Bool = false) {
        var stage: TaskStage?
        while true {
            // Who takes part: looked up once, and again when the task has another face.
            let (turn, cast) = state.withLock { state in
                if isAnywhere, mayCallProgram(state) {
                    return (TaskDelivery.Turn?.none, TaskStage.Cast?.none)
                }
                let turn = state.delivery.take()
                return (turn, state.cast(besides: stage))
            }
            guard let turn else { return askForTurnOnQueue() }
            if let cast { stage = TaskStage(cast) }
            assertNoLockIsHeld()
            switch turn {
            case .certain(let call): call()
            case .stop: return
            case .call(let call): if let stage { call(stage) }
            case .question(let question): if let stage { ask(question, stage) }
            case .data(let data, let resumes):
                if resumes { resumeReading() }
                if let stage { stage.sink.delivers(data, stage) }
            case .end:
                let (cause, sink) = state.withLock { ($0.outcome?.cause, $0.sink) }
                if let error = sink.ended(self, cause) { state.withLock { $0.outcome?.error = error } }
            case .finish: if let stage { finish(stage) }
            }
        }
    }

    /// Asks, and has the time watched when the load is over and there is no answer yet.
    private func ask(_ question: any TaskQuestion, _ stage: TaskStage) {
        question.ask(stage)
        let waits = state.withLock { state in
            state.outcome != nil && state.alarm == nil && state.delivery.isAsking
        }
        if waits { watchTime() }
    }

    /// The last two calls (U-5.1), and the end of the task for the session.
    private func finish(_ stage: TaskStage) {
        let (metrics, error, sink, progress, alarm, _, _) = state.withLock { state in
            var error = state.outcome?.error
            if state.machine.handle(.finish) == .completeCancelled {
                error = state.sink.errorOfCancelled(
                    error, URLError.cancelled(url: state.currentRequest?.url))
            }
            state.error = error
            return (
                state.outcome?.metrics, error, state.sink, state.progress, state.alarm.take(),
                state.making.take(), state.load.take()
            )
        }
        alarm?()
        progress.map(Self.complete)
        if let metrics {
            stage.delegates.task?.urlSession(stage.session, task: stage.task, didFinishCollecting: metrics)
        }
        assertNoLockIsHeld()
        sink.completed(stage, error)
        // The stage keeps all of them: nothing goes away under the lock, nor with whoever lets go of the task last.
        let isLast = state.withLock { state in
            defer { (state.face, state.session, state.own) = (nil, nil, nil) }
            return state.face != nil
        }
        if isLast { stage.session.core.taskFinished(identifier, of: stage.session) }
    }
}

extension TaskCore: TurnEndListener {
    func turnEnded() { runTurn(isAnywhere: true) }
}

/// What a task has dropped, and whoever has it last lets go of elsewhere.
private final class DroppedCalls: Sendable {
    private struct Contents: Sendable {
        let abandoned: [any TaskQuestion]
        let delivery: TaskDelivery
        let cause: (any Error)?
    }

    /// Whether nobody was asked.
    let isEmpty: Bool
    private let contents: Lock<Contents?>

    init(_ abandoned: [any TaskQuestion], _ delivery: TaskDelivery, _ cause: (any Error)?) {
        isEmpty = abandoned.isEmpty
        contents = Lock(Contents(abandoned: abandoned, delivery: delivery, cause: cause))
    }

    var abandoned: [any TaskQuestion] { contents.withLock { $0?.abandoned ?? [] } }

    func letGo() { _ = contents.withLock { $0.take() } }
}
