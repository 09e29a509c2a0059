// SPDX-License-Identifier: MIT

import Foundation

/// The calls of one task that wait for the delegate queue, in order.
///
/// A value under the task's lock: it decides what is to run next and whether a turn on the queue has to be requested; the core
/// runs it. One turn runs everything that is ready. A question holds back the steps behind it until it is answered, and so does
/// a piece of content as long as content is held. Once the task is cancelled only calls that survive that are left (U-5.3): any
/// other call that has not been taken out to be run is dropped.
struct TaskDelivery: Sendable {
    /// The progress of the end: the load has ended, the sink has been told, the delegate has been told.
    private enum Ending { case notEnded, loadEnded, sinkNotified, finished }

    /// One thing to run.
    enum Step: Sendable {
        /// A call of the delegate. Not run once the task is cancelled.
        case call(@Sendable (CallbackContext) -> Void)
        /// A call that is run in any case, even after the last call of the task.
        case unconditional(@Sendable () -> Void)
        /// A call whose completion handler has to be called before the next step.
        case question(any TaskQuestion)
        /// A piece of content.
        case data(Data)
        /// The slot of a step that was taken out.
        case spent
    }

    /// What the core has to do next in its turn.
    enum Action: Sendable {
        case call(@Sendable (CallbackContext) -> Void)
        case unconditional(@Sendable () -> Void)
        /// To be followed by `answered`.
        case question(any TaskQuestion)
        /// The piece, and whether the load may resume reading.
        case data(Data, resumes: Bool)
        /// No steps are left and the load has ended: the sink is told, and may add steps.
        case end
        /// No steps are left after that: metrics and completion.
        case finish
        /// Nothing is ready for now.
        case stop
    }

    /// The maximum number of waiting pieces of content. Further content is joined to the last piece, up to `joinedLimit`.
    static let maxPieces = 64
    /// The maximum size of a piece that others are joined to.
    static let joinedLimit = 64 * 1024
    /// The number of waiting bytes above which the load stops reading...
    static let highWater = 256 * 1024
    /// ... until at most this many are left.
    static let lowWater = 64 * 1024

    /// The number of emptied slots that are kept before the remaining steps move to the front.
    private static let maxSpent = 64

    private var steps: [Step] = []
    private var nextIndex = 0
    private var waitingBytes = 0
    private var waitingPieces = 0
    private var isPaused = false
    private var openQuestion: (any TaskQuestion)?
    private var isScheduled = false
    private var isCancelled = false
    /// Whether the consumer of the content holds it back for now.
    private var holdsContent = false
    private var ending = Ending.notEnded

    // MARK: what comes in

    /// Adds a step; once the task is cancelled or finished, it is dropped unless it is `.unconditional`. Returns whether a turn
    /// has to be requested.
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
        // Taken out of the array while it grows, so that it is not copied.
        steps[last] = .spent
        piece.append(data)
        steps[last] = .data(piece)
        return true
    }

    /// Marks the load as ended: when no steps are left, the task finishes. Returns whether a turn has to be requested.
    mutating func end() -> Bool {
        if ending == .notEnded { ending = .loadEnded }
        return schedule()
    }

    /// Marks the task as finished if nothing waits and no turn has been requested. Returns whether that was so.
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

    /// Whether the next step is run in any case.
    var isNextUnconditional: Bool {
        guard nextIndex < steps.count, case .unconditional = steps[nextIndex] else { return false }
        return true
    }

    /// Whether the sink can still be replaced: the new one will be told of the end.
    var mayChangeSink: Bool {
        switch ending {
        case .notEnded, .loadEnded: !isCancelled
        case .sinkNotified, .finished: false
        }
    }

    /// Ends the open question. Returns whether a turn has to be requested.
    mutating func answered(_ question: any TaskQuestion) -> Bool {
        guard openQuestion === question else { return false }
        openQuestion = nil
        return schedule()
    }

    /// Drops the steps that do not survive a cancellation. The returned questions have to be abandoned.
    mutating func cancel() -> (abandoned: [any TaskQuestion], needsTurn: Bool) {
        isCancelled = true
        return drop()
    }

    /// Drops the open question and the steps behind it, because the load has timed out or was cancelled. Drops nothing if no
    /// question is open.
    mutating func abandonOpenQuestion() -> (abandoned: [any TaskQuestion], needsTurn: Bool) {
        openQuestion == nil ? ([], false) : drop()
    }

    /// Whether a question is open.
    var isAsking: Bool { openQuestion != nil }

    /// Whether a question is open, or waits to be asked.
    var hasQuestion: Bool {
        if openQuestion != nil { return true }
        return steps[nextIndex...].contains { if case .question = $0 { true } else { false } }
    }

    /// The resource time-out has expired: as `abandonOpenQuestion`, also if the question has not been asked yet.
    mutating func expire() -> (abandoned: [any TaskQuestion], needsTurn: Bool) {
        hasQuestion ? drop() : ([], false)
    }

    /// Holds content back, or lets it go on; steps before the next piece are still run. Returns whether a turn has to be
    /// requested.
    mutating func holdContent(_ isHeld: Bool) -> Bool {
        holdsContent = isHeld
        return schedule()
    }

    /// Whether the next step has to wait.
    private var isBlocked: Bool {
        if openQuestion != nil { return true }
        guard holdsContent, nextIndex < steps.count, case .data = steps[nextIndex] else { return false }
        return true
    }

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

    private mutating func schedule() -> Bool {
        guard !isScheduled, !isBlocked,
            nextIndex < steps.count || ending == .loadEnded || ending == .sinkNotified
        else {
            return false
        }
        isScheduled = true
        return true
    }

    // MARK: what goes out

    /// Takes out what is to be run next, on the delegate queue. `.stop` ends the turn.
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
        // A consumer that is always a little behind never empties the array.
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
