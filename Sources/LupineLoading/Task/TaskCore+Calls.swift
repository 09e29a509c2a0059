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

    /// Queues a question for the delegate. The steps behind it wait until `markAnswered` is called.
    func ask(_ question: some TaskQuestion) {
        let (isQueued, needsTurn) = state.withLock { $0.delivery.ask(question) }
        if !isQueued { question.abandon() }
        if needsTurn { requestTurn() }
    }

    /// Records that a question was answered, so that the steps behind it are run.
    func markAnswered(_ question: some TaskQuestion) {
        let needsTurn = state.withLock { $0.delivery.markAnswered(question) }
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
    func abandonOpenQuestion() { dropSteps { $0.delivery.abandonOpenQuestion() } }

    /// Applies `change`, which drops steps. Abandons the dropped questions, and releases the steps on the delegate queue.
    func dropSteps(_ change: (inout State) -> TaskDelivery.Dropped) {
        let (steps, needsTurn) = state.withLock { state in
            // Copies of the members that `change` replaces. They retain the dropped steps.
            let (delivery, cause) = (state.delivery, state.outcome?.cause)
            let dropped = change(&state)
            return (DroppedSteps(dropped, delivery, cause), dropped.needsTurn)
        }
        steps.abandon(releasingOn: queue)
        if needsTurn { requestTurn() }
    }

    /// Drops the queued steps after a cancellation, so that only the end is reported (U-5.3). Dropped steps may retain objects of
    /// the program, which are released outside of the lock.
    func dropCalls() {
        // The ignored element retains the dropped steps until the lock is released.
        let (dropped, _) = state.withLock { state in
            let previous = state.delivery
            return (state.delivery.cancel(), previous)
        }
        dropped.abandon()
        if dropped.needsTurn { requestTurn() }
    }

    /// Adds a job to the delegate queue that runs the ready steps of this task.
    func requestTurn() { queue?.add { TaskTurn(of: self).run() } }

    /// Whether the task or its session has a delegate.
    var hasDelegate: Bool { state.withLock { $0.ownDelegates != nil || $0.sessionHasDelegate } }
}

/// Retains the dropped steps of a task until the delegate queue releases them. They may retain objects of the program, which must
/// not be deallocated on the thread that drops them.
private final class DroppedSteps: Sendable {
    private struct Contents: Sendable {
        let dropped: TaskDelivery.Dropped
        /// The delivery before the change, which retains the dropped steps.
        let delivery: TaskDelivery
        /// The replaced error of the load.
        let cause: (any Error)?
    }

    /// Whether no question was dropped. Steps are dropped only together with a question.
    private let isEmpty: Bool
    private let contents: Lock<Contents?>

    init(_ dropped: TaskDelivery.Dropped, _ delivery: TaskDelivery, _ cause: (any Error)?) {
        isEmpty = dropped.questions.isEmpty
        contents = Lock(Contents(dropped: dropped, delivery: delivery, cause: cause))
    }

    /// Abandons the dropped questions, and releases the contents on the queue, outside of the lock.
    func abandon(releasingOn queue: DelegateQueue?) {
        if isEmpty { return }
        contents.withLock { $0?.dropped }?.abandon()
        queue?.add { _ = self.contents.withLock { $0.take() } }
    }
}
