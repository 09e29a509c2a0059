// SPDX-License-Identifier: MIT

import Foundation

/// The calls, questions and content of one task that are queued for the delegate queue, in order.
///
/// A value under the task's lock. It decides what runs next, and whether a turn on the delegate queue has to be requested;
/// `TaskCore` runs the actions. One turn runs everything that is ready. An open question holds back the steps behind it until it
/// is answered, and so does a piece of content while content is held. When the task is cancelled, all steps are dropped except
/// unconditional calls (U-5.3).
struct TaskDelivery: Sendable {
    /// The progress of the end. `notEnded`: the load has not ended. `loadEnded`: the load has ended, steps may be queued.
    /// `sinkNotified`: the action `end` was returned. `finished`: the action `finish` was returned, or `endDirectly` has
    /// succeeded.
    private enum Ending { case notEnded, loadEnded, sinkNotified, finished }

    /// A queued step.
    enum Step: Sendable {
        /// A call of the delegate. Not run once the task is cancelled.
        case call(@Sendable (CallbackContext) -> Void)
        /// A call that runs in any case, even after the last call of the task.
        case unconditional(@Sendable () -> Void)
        /// A call of the delegate whose completion handler has to be called before the next step runs.
        case question(any TaskQuestion)
        /// A piece of content.
        case data(Data)
        /// The emptied slot of a step that was handed out.
        case spent
    }

    /// The next action of the core in its turn.
    enum Action: Sendable {
        case call(@Sendable (CallbackContext) -> Void)
        case unconditional(@Sendable () -> Void)
        /// The core asks the question and calls `answered` when it is answered.
        case question(any TaskQuestion)
        /// The sink delivers the piece; if `resumes` is true, the load resumes reading.
        case data(Data, resumes: Bool)
        /// No steps are left and the load has ended: the core notifies the sink, which may add steps.
        case end
        /// No steps are left after `end`: the core reports metrics and completion.
        case finish
        /// Nothing is ready: the turn ends.
        case stop
    }

    /// The maximum number of queued pieces of content. Further content is joined to the last piece, up to `joinedLimit`.
    static let maxPieces = 64
    /// The maximum size of a piece that others are joined to.
    static let joinedLimit = 64 * 1024
    /// The number of queued bytes above which the load stops reading.
    static let highWater = 256 * 1024
    /// The number of queued bytes at which a paused load resumes reading.
    static let lowWater = 64 * 1024

    /// The number of emptied slots that are kept before the remaining steps move to the front.
    private static let maxSpent = 64

    private var steps: [Step] = []
    /// The index of the next step; the slots before it are `spent`.
    private var nextIndex = 0
    /// The number of queued bytes of content.
    private var waitingBytes = 0
    private var waitingPieces = 0
    /// Whether the load has to stop reading.
    private var isPaused = false
    private var openQuestion: (any TaskQuestion)?
    /// Whether a turn has been requested that has not ended.
    private var isScheduled = false
    private var isCancelled = false
    /// Whether content is held back (`holdContent`).
    private var holdsContent = false
    private var ending = Ending.notEnded

    // MARK: input

    /// Adds a step. Drops it if the task is cancelled or finished, unless it is `.unconditional`. Returns whether a turn has to
    /// be requested.
    mutating func add(_ step: Step) -> Bool {
        if case .unconditional = step {} else if isCancelled || ending == .finished { return false }
        append(step)
        return schedule()
    }

    private mutating func append(_ step: Step) {
        // Most tasks have a response and one piece of content.
        if steps.capacity == 0 { steps.reserveCapacity(2) }
        steps.append(step)
    }

    /// Adds a piece of content. Returns whether a turn has to be requested, and whether the load has to stop reading.
    mutating func add(_ data: Data) -> (needsTurn: Bool, pauses: Bool) {
        if isCancelled || ending == .finished { return (false, false) }
        waitingBytes += data.count
        if waitingPieces < Self.maxPieces || !joinToLast(data) {
            append(.data(data))
            waitingPieces += 1
        }
        if waitingBytes > Self.highWater { isPaused = true }
        return (schedule(), isPaused)
    }

    /// Joins the data to the last step, if that is a piece with enough room. Returns whether it was joined.
    private mutating func joinToLast(_ data: Data) -> Bool {
        guard steps.count > nextIndex, let last = steps.indices.last, case .data(var piece) = steps[last],
            piece.count + data.count <= Self.joinedLimit
        else { return false }
        // The array gives up its reference while the piece grows, so that the piece is not copied.
        steps[last] = .spent
        piece.append(data)
        steps[last] = .data(piece)
        return true
    }

    /// Records the end of the load. The task finishes when no steps are left. Returns whether a turn has to be requested.
    mutating func end() -> Bool {
        if ending == .notEnded { ending = .loadEnded }
        return schedule()
    }

    /// Marks the task as finished if its load has not ended before, no step is queued and no turn has been requested. Returns
    /// whether it was marked; the caller then completes the task.
    mutating func endDirectly() -> Bool {
        guard ending == .notEnded, !isScheduled, openQuestion == nil, nextIndex >= steps.count else {
            return false
        }
        ending = .finished
        return true
    }

    /// Adds a question. Returns whether it was added, and whether a turn has to be requested.
    mutating func ask(_ question: any TaskQuestion) -> (isQueued: Bool, needsTurn: Bool) {
        if isCancelled || ending == .finished { return (false, false) }
        append(.question(question))
        return (true, schedule())
    }

    /// Adds a step before all others.
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

    /// Whether the sink can still be replaced, so that the new one is notified of the end.
    var mayChangeSink: Bool {
        switch ending {
        case .notEnded, .loadEnded: !isCancelled
        case .sinkNotified, .finished: false
        }
    }

    /// Closes the question if it is the open one. Returns whether a turn has to be requested.
    mutating func answered(_ question: any TaskQuestion) -> Bool {
        guard openQuestion === question else { return false }
        openQuestion = nil
        return schedule()
    }

    /// Drops all steps except unconditional calls, because the task was cancelled. The caller has to abandon the returned
    /// questions.
    mutating func cancel() -> (abandoned: [any TaskQuestion], needsTurn: Bool) {
        isCancelled = true
        return drop()
    }

    /// Drops the open question and the steps behind it, except unconditional calls, because the load has timed out or was
    /// cancelled. Drops nothing if no question is open.
    mutating func abandonOpenQuestion() -> (abandoned: [any TaskQuestion], needsTurn: Bool) {
        openQuestion == nil ? ([], false) : drop()
    }

    /// Whether a question is open.
    var isAsking: Bool { openQuestion != nil }

    /// Whether a question is open or queued.
    var hasQuestion: Bool {
        if openQuestion != nil { return true }
        return steps[nextIndex...].contains { if case .question = $0 { true } else { false } }
    }

    /// The resource time-out has expired: as `abandonOpenQuestion`, also if the question has not been asked yet.
    mutating func expire() -> (abandoned: [any TaskQuestion], needsTurn: Bool) {
        hasQuestion ? drop() : ([], false)
    }

    /// Holds content back, or delivers it again. Steps before the next piece still run. Returns whether a turn has to be
    /// requested.
    mutating func holdContent(_ isHeld: Bool) -> Bool {
        holdsContent = isHeld
        return schedule()
    }

    /// Whether an open question or held content prevents the next step.
    private var isBlocked: Bool {
        if openQuestion != nil { return true }
        guard holdsContent, nextIndex < steps.count, case .data = steps[nextIndex] else { return false }
        return true
    }

    /// Drops the open question and all steps except unconditional calls. Returns the dropped questions.
    private mutating func drop() -> (abandoned: [any TaskQuestion], needsTurn: Bool) {
        var abandoned: [any TaskQuestion] = []
        if let openQuestion { abandoned.append(openQuestion) }
        openQuestion = nil
        var kept: [Step] = []
        for step in steps[nextIndex...] {
            switch step {
            case .unconditional: kept.append(step)
            case .question(let question): abandoned.append(question)
            case .call, .data, .spent: break
            }
        }
        (steps, nextIndex, waitingBytes, waitingPieces) = (kept, 0, 0, 0)
        return (abandoned, schedule())
    }

    /// Returns whether a turn has to be requested: if something is ready and no turn has been requested.
    private mutating func schedule() -> Bool {
        guard !isScheduled, !isBlocked,
            nextIndex < steps.count || ending == .loadEnded || ending == .sinkNotified
        else {
            return false
        }
        isScheduled = true
        return true
    }

    // MARK: output

    /// Removes and returns the next action. `.stop` ends the turn.
    mutating func takeNext() -> Action {
        guard !isBlocked else {
            isScheduled = false
            return .stop
        }
        guard nextIndex < steps.count else {
            if nextIndex > 0 { steps.removeAll(keepingCapacity: true) }
            nextIndex = 0
            switch ending {
            case .loadEnded:
                ending = .sinkNotified
                return .end
            case .sinkNotified:
                ending = .finished
                return .finish
            case .notEnded, .finished:
                isScheduled = false
                return .stop
            }
        }
        var step = Step.spent
        swap(&step, &steps[nextIndex])
        nextIndex += 1
        // Bounds the emptied slots: with a consumer that is always a little behind, the array never becomes empty.
        if nextIndex >= Self.maxSpent, nextIndex * 2 >= steps.count {
            steps.removeFirst(nextIndex)
            nextIndex = 0
        }
        switch step {
        case .call(let call): return .call(call)
        case .unconditional(let call): return .unconditional(call)
        case .question(let question):
            openQuestion = question
            return .question(question)
        case .spent: return takeNext()
        case .data(let data):
            waitingBytes -= data.count
            waitingPieces -= 1
            let resumes = isPaused && waitingBytes <= Self.lowWater
            if resumes { isPaused = false }
            return .data(data, resumes: resumes)
        }
    }
}
