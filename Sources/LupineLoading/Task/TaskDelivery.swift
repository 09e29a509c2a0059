// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// The queue of one task's calls, questions and content for the delegate queue. Each of them is called a step.
///
/// A value under the task's lock. It decides which step runs next, and whether a turn has to be requested. Here a turn is a job
/// on the delegate queue that runs all steps that are ready. `TaskCore` requests the turn, and `TaskTurn` runs the steps.
///
/// An open question holds back the steps behind it until it is answered. While content is held back (`holdContent`), a piece of
/// content holds back the steps behind it too. When the task is cancelled, all steps are dropped except unconditional calls
/// (U-5.3).
struct TaskDelivery: Sendable {
    /// How far the end of the task has come.
    private enum EndProgress {
        /// The load has not ended.
        case notEnded
        /// The load has ended. Steps may still be queued.
        case loadEnded
        /// The action `end` was returned.
        case sinkNotified
        /// The action `finish` was returned, or `finishWithoutTurn` has succeeded.
        case finished
    }

    /// A queued step.
    enum Step: Sendable {
        /// A call of the delegate. It is not made after a cancellation of the task.
        case call(@Sendable (CallbackContext) -> Void)
        /// A call that is made in any case, even after the last call of the task.
        case unconditional(@Sendable () -> Void)
        /// A call of the delegate whose completion handler has to be called before the next step runs.
        case question(any TaskQuestion)
        /// A piece of content.
        case data(Data)
        /// The empty slot of a step that `takeNext` has returned.
        case empty
    }

    /// The next action that the core performs in its turn.
    enum Action: Sendable {
        case call(@Sendable (CallbackContext) -> Void)
        case unconditional(@Sendable () -> Void)
        /// The core asks the question, and calls `markAnswered` when it is answered.
        case question(any TaskQuestion)
        /// The sink delivers the piece; if `resumes` is true, the load resumes reading.
        case data(Data, resumes: Bool)
        /// The load has ended and no steps are left: the core notifies the sink, which may add steps.
        case end
        /// No steps are left after `end`: the core reports metrics and completion.
        case finish
        /// No step is ready: the turn ends.
        case stop
    }

    /// A question that the delegate was asked and has not answered.
    private struct OpenQuestion: Sendable {
        let question: any TaskQuestion
        /// The Swift tasks in which asynchronous methods of the delegate answer the question.
        var answeringTasks: [Task<Void, Never>] = []
    }

    /// Questions that were dropped with the steps behind them.
    struct Dropped: Sendable {
        fileprivate(set) var questions: [any TaskQuestion] = []
        /// The Swift tasks that answer the question that was open.
        fileprivate var answeringTasks: [Task<Void, Never>] = []
        /// Whether a turn has to be requested.
        fileprivate(set) var needsTurn = false

        /// Abandons the questions: their answers will be ignored, and the Swift tasks that compute them are cancelled.
        func abandon() {
            for question in questions { question.abandon() }
            // `cancel()` runs the program's cancellation handlers on the calling thread. That thread may be an event loop, on
            // which the program's code must not run, so another thread cancels.
            if !answeringTasks.isEmpty {
                Task { for answeringTask in answeringTasks { answeringTask.cancel() } }
            }
        }
    }

    /// The maximum number of queued pieces of content. Further content is joined to the last piece, up to `maxJoinedBytes`.
    static let maxPieces = 64
    /// The maximum number of bytes of a piece after other content was joined to it.
    static let maxJoinedBytes = 64 * 1024
    /// The number of queued bytes above which the load stops reading.
    static let highWater = 256 * 1024
    /// The number of queued bytes at which a paused load resumes reading.
    static let lowWater = 64 * 1024

    /// The number of empty slots at which the remaining steps may be moved to the front of the array.
    private static let maxEmptySlots = 64

    /// The steps, oldest first, behind empty slots.
    private var steps: [Step] = []
    /// The index of the next step; the slots before it are `empty`.
    private var nextIndex = 0
    /// The number of queued bytes of content.
    private var queuedBytes = 0
    /// The number of queued pieces of content.
    private var queuedPieces = 0
    /// Whether the load has to stop reading.
    private var isPaused = false
    private var openQuestion: OpenQuestion?
    /// Whether a turn has been requested that has not ended.
    private var isTurnRequested = false
    private var isCancelled = false
    /// Whether pieces of content are held back (`holdContent`).
    private var holdsContent = false
    /// The number of the latest decision that `holdContent` has followed.
    private var holdNumber = 0
    private var endProgress = EndProgress.notEnded

    // MARK: input

    /// Adds a step. Drops it if the task is cancelled or finished, unless it is `.unconditional`. Returns whether a turn has to
    /// be requested.
    mutating func add(_ step: Step) -> Bool {
        // The empty branch: an unconditional call is always added.
        if case .unconditional = step {} else if isCancelled || endProgress == .finished { return false }
        append(step)
        return requestTurnIfReady()
    }

    private mutating func append(_ step: Step) {
        // Most tasks have two steps: the response and one piece of content.
        if steps.capacity == 0 { steps.reserveCapacity(2) }
        steps.append(step)
    }

    /// Adds a piece of content. Returns whether a turn has to be requested, and whether the load has to stop reading.
    mutating func add(_ data: Data) -> (needsTurn: Bool, pauses: Bool) {
        if isCancelled || endProgress == .finished { return (false, false) }
        queuedBytes += data.count
        let isJoined = queuedPieces >= Self.maxPieces && joinToLast(data)
        if !isJoined {
            append(.data(data))
            queuedPieces += 1
        }
        // While content is held back, enough of it waits for the consumer.
        if holdsContent || queuedBytes > Self.highWater { isPaused = true }
        return (requestTurnIfReady(), isPaused)
    }

    /// Joins the data to the last step, if that is a piece with enough room. Returns whether it was joined.
    private mutating func joinToLast(_ data: Data) -> Bool {
        guard steps.count > nextIndex, let last = steps.indices.last, case .data(var piece) = steps[last],
            piece.count + data.count <= Self.maxJoinedBytes
        else { return false }
        // The array releases the piece while it grows, because appending to a shared `Data` would copy it.
        steps[last] = .empty
        piece.append(data)
        steps[last] = .data(piece)
        return true
    }

    /// Records the end of the load. The task finishes when no steps are left. Returns whether a turn has to be requested.
    mutating func end() -> Bool {
        if endProgress == .notEnded { endProgress = .loadEnded }
        return requestTurnIfReady()
    }

    /// Marks the task as finished if its load has not ended before, no step is queued and no turn has been requested. Returns
    /// whether the task was marked. The caller then completes the task without a turn.
    mutating func finishWithoutTurn() -> Bool {
        let hasSteps = openQuestion != nil || nextIndex < steps.count
        guard endProgress == .notEnded, !isTurnRequested, !hasSteps else { return false }
        endProgress = .finished
        return true
    }

    /// Adds a question. Returns whether it was added, and whether a turn has to be requested.
    mutating func ask(_ question: any TaskQuestion) -> (isQueued: Bool, needsTurn: Bool) {
        if isCancelled || endProgress == .finished { return (false, false) }
        append(.question(question))
        return (true, requestTurnIfReady())
    }

    /// Inserts a step before all others, and removes the empty slots.
    mutating func insert(_ step: Step) {
        steps.removeFirst(nextIndex)
        nextIndex = 0
        steps.insert(step, at: 0)
    }

    /// Whether the next step is an unconditional call.
    var isNextUnconditional: Bool {
        guard nextIndex < steps.count, case .unconditional = steps[nextIndex] else { return false }
        return true
    }

    /// Whether the sink may be replaced. It may not once the sink was notified of the end, which the new sink would miss.
    var mayChangeSink: Bool {
        switch endProgress {
        case .notEnded, .loadEnded: !isCancelled
        case .sinkNotified, .finished: false
        }
    }

    /// Closes the question if it is the open one, so that the steps behind it can run. Returns whether a turn has to be
    /// requested.
    mutating func markAnswered(_ question: any TaskQuestion) -> Bool {
        guard openQuestion?.question === question else { return false }
        openQuestion = nil
        return requestTurnIfReady()
    }

    /// Stores a Swift task that answers the open question, as long as the question is open. Returns false if none is open.
    mutating func addAnsweringTask(_ answeringTask: Task<Void, Never>) -> Bool {
        openQuestion?.answeringTasks.append(answeringTask) != nil
    }

    /// Drops all steps except unconditional calls, because the task was cancelled. The caller has to abandon the returned
    /// questions.
    mutating func cancel() -> Dropped {
        isCancelled = true
        return dropSteps()
    }

    /// Drops the open question and the steps behind it, except unconditional calls, because the load has timed out or was
    /// cancelled. Drops nothing if no question is open.
    mutating func abandonOpenQuestion() -> Dropped { isAsking ? dropSteps() : Dropped() }

    /// Whether a question is open.
    var isAsking: Bool { openQuestion != nil }

    /// Whether a question is open or queued.
    var hasQuestion: Bool {
        if openQuestion != nil { return true }
        return steps[nextIndex...].contains { if case .question = $0 { true } else { false } }
    }

    /// Drops the open question and all steps, except unconditional calls, if a question is open or queued. Otherwise drops
    /// nothing. Called when the resource time-out expires after the end of the load.
    mutating func abandonQuestions() -> Dropped { hasQuestion ? dropSteps() : Dropped() }

    /// Holds content back, or delivers it again. Steps before the next piece still run. While content is held back, the load has
    /// to stop reading at the next piece. Has no effect after a decision with a greater number. Returns whether a turn has to be
    /// requested.
    mutating func holdContent(_ isHeld: Bool, decision number: Int) -> Bool {
        guard number > holdNumber else { return false }
        holdNumber = number
        holdsContent = isHeld
        return requestTurnIfReady()
    }

    /// Whether the next step has to wait, because a question is open or the step is content that is held back.
    private var isBlocked: Bool {
        if openQuestion != nil { return true }
        guard holdsContent, nextIndex < steps.count, case .data = steps[nextIndex] else { return false }
        return true
    }

    /// Drops the open question and all steps except unconditional calls. Returns the dropped questions.
    private mutating func dropSteps() -> Dropped {
        var dropped = Dropped()
        if let openQuestion = openQuestion.take() {
            dropped.questions.append(openQuestion.question)
            dropped.answeringTasks = openQuestion.answeringTasks
        }
        var unconditionalCalls: [Step] = []
        for step in steps[nextIndex...] {
            switch step {
            case .unconditional: unconditionalCalls.append(step)
            case .question(let question): dropped.questions.append(question)
            case .call, .data, .empty: break
            }
        }
        (steps, nextIndex, queuedBytes, queuedPieces) = (unconditionalCalls, 0, 0, 0)
        dropped.needsTurn = requestTurnIfReady()
        return dropped
    }

    /// Returns whether the caller has to request a turn: true if a step or the end is ready and no turn has been requested.
    /// Records that the caller does so.
    private mutating func requestTurnIfReady() -> Bool {
        let hasEndAction = endProgress == .loadEnded || endProgress == .sinkNotified
        let hasAction = nextIndex < steps.count || hasEndAction
        guard !isTurnRequested, !isBlocked, hasAction else { return false }
        isTurnRequested = true
        return true
    }

    // MARK: output

    /// Removes and returns the next action. `.stop` ends the turn.
    mutating func takeNext() -> Action {
        guard !isBlocked else {
            isTurnRequested = false
            return .stop
        }
        guard nextIndex < steps.count else {
            if nextIndex > 0 { steps.removeAll(keepingCapacity: true) }
            nextIndex = 0
            switch endProgress {
            case .loadEnded:
                endProgress = .sinkNotified
                return .end
            case .sinkNotified:
                endProgress = .finished
                return .finish
            case .notEnded, .finished:
                isTurnRequested = false
                return .stop
            }
        }
        var step = Step.empty
        swap(&step, &steps[nextIndex])
        nextIndex += 1
        // Limits the number of empty slots. Otherwise they would accumulate while a slow delegate always leaves steps queued.
        if nextIndex >= Self.maxEmptySlots, nextIndex * 2 >= steps.count {
            steps.removeFirst(nextIndex)
            nextIndex = 0
        }
        switch step {
        case .call(let call): return .call(call)
        case .unconditional(let call): return .unconditional(call)
        case .question(let question):
            openQuestion = OpenQuestion(question: question)
            return .question(question)
        // Not reached: no slot from `nextIndex` on is empty.
        case .empty: return takeNext()
        case .data(let data):
            queuedBytes -= data.count
            queuedPieces -= 1
            let resumes = isPaused && queuedBytes <= Self.lowWater
            if resumes { isPaused = false }
            return .data(data, resumes: resumes)
        }
    }
}

/// One turn of a task: a job on the delegate queue that runs the task's steps as long as one is ready.
struct TaskTurn {
    private let task: TaskCore
    /// Whether the calling thread may be another one than the delegate queue's. Steps that may call the program then remain for
    /// the queue.
    private let isOnAnyThread: Bool

    init(of task: TaskCore, onAnyThread: Bool = false) { (self.task, isOnAnyThread) = (task, onAnyThread) }

    /// Runs the steps. Called on the delegate queue, unless the turn may run on any thread.
    func run() {
        var context: CallbackContext?
        while true {
            // The participants are the session, task, sink and delegate that a callback needs. They are nil if unchanged since
            // `context` was made. They change if a step converts the task, as the answer `.becomeDownload` does.
            let (action, participants) = task.state.withLock { state in
                if isOnAnyThread, state.ownDelegates != nil || state.delivery.isNextUnconditional {
                    // No action: the remaining steps run on the delegate queue.
                    return (TaskDelivery.Action?.none, CallbackContext.Participants?.none)
                }
                let action = state.delivery.takeNext()
                return (action, state.participants(ifNewSince: context))
            }
            guard let action else { return task.requestTurn() }
            if let participants { context = CallbackContext(participants) }
            assertNoLockIsHeld()
            switch action {
            case .unconditional(let call): call()
            case .stop: return
            case .call(let call): if let context { call(context) }
            case .question(let question): if let context { askDelegates(question, context) }
            case .data(let data, let resumes):
                if resumes { task.resumeReading() }
                if let context { context.sink.deliver(data, context) }
            case .end:
                // The sink may queue more calls and content before it returns the task's error.
                let (cause, sink) = task.state.withLock { ($0.outcome?.cause, $0.sink) }
                if let error = sink.ended(task, cause) { task.state.withLock { $0.outcome?.error = error } }
            case .finish: if let context { TaskEnding(of: task).finish(context) }
            }
        }
    }

    /// Asks the question. If the load has ended and the delegate has not answered during the call, limits the wait for the
    /// answer.
    private func askDelegates(_ question: any TaskQuestion, _ context: CallbackContext) {
        question.ask(context)
        let needsLimit = task.state.withLock { state in
            state.outcome != nil && state.cancelAnswerTimeout == nil && state.delivery.isAsking
        }
        if needsLimit { task.limitWaitForAnswer() }
    }
}
