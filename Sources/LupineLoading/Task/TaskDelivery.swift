// SPDX-License-Identifier: MIT

import Foundation

/// The calls of one task that wait for the delegate queue, in order.
///
/// A value under the task's lock: it decides what is to run next and whether a turn on the queue has to be asked for; the
/// core runs it. One turn runs everything that is ready. A question holds back what stands behind it until it is answered,
/// and so does a piece of content as long as content is held.
/// Once the task is cancelled only calls that outlive that are left (U-5.3): the check is made in the moment in which a
/// call is taken out to be run.
struct TaskDelivery: Sendable {
    /// How far the end has come: the load is over, the sink has been told, the delegate has been told.
    private enum Ending { case no, over, told, finished }

    /// One thing to run.
    enum Step: Sendable {
        /// A call of the delegate's. Not run once the task is cancelled.
        case call(@Sendable (TaskStage) -> Void)
        /// A call that is run in any case, even after the last of the task.
        case certain(@Sendable () -> Void)
        /// A call whose completion handler has to be called before the next step.
        case question(any TaskQuestion)
        /// A piece of content.
        case data(Data)
        /// In the place of one that was given out.
        case spent
    }

    /// What the core has to do in its turn.
    enum Turn: Sendable {
        case call(@Sendable (TaskStage) -> Void)
        case certain(@Sendable () -> Void)
        /// To be followed by `answered`.
        case question(any TaskQuestion)
        /// The piece, and whether the load may go on reading.
        case data(Data, resumes: Bool)
        /// Nothing is left and the load is over: the sink has the last word, and may add steps.
        case end
        /// Nothing is left after that: metrics and completion.
        case finish
        /// Nothing is left for now.
        case stop
    }

    /// More pieces of content than these do not wait: what comes then is joined to the last one, up to `joinedLimit`.
    static let mostPieces = 64
    /// The largest piece that others are joined to.
    static let joinedLimit = 64 * 1024
    /// More content than this does not wait: the load stops reading...
    static let highMark = 256 * 1024
    /// ... until so little is left.
    static let lowMark = 64 * 1024

    /// So many places of steps that were given out are kept before the others move up.
    private static let mostSpent = 64

    private var steps: [Step] = []
    private var next = 0
    private var waitingBytes = 0
    private var waitingPieces = 0
    private var isPaused = false
    private var openQuestion: (any TaskQuestion)?
    private var isScheduled = false
    private var isCancelled = false
    /// Whoever is given the content has enough of it for now.
    private var holdsContent = false
    private var ending = Ending.no

    // MARK: what comes in

    /// Adds a step. Returns whether a turn has to be asked for; what is not added any more is dropped.
    mutating func add(_ step: Step) -> Bool {
        if case .certain = step {} else if isCancelled || ending == .finished { return false }
        append(step)
        return schedule()
    }

    private mutating func append(_ step: Step) {
        // Most tasks have a response and one piece of content.
        if steps.capacity == 0 { steps.reserveCapacity(2) }
        steps.append(step)
    }

    /// Adds a piece of content. Returns whether a turn has to be asked for, and whether the load is to stop reading.
    mutating func add(_ data: Data) -> (needsTurn: Bool, pauses: Bool) {
        if isCancelled || ending == .finished { return (false, false) }
        waitingBytes += data.count
        if waitingPieces < Self.mostPieces || !joinToLast(data) {
            append(.data(data))
            waitingPieces += 1
        }
        if waitingBytes > Self.highMark { isPaused = true }
        return (schedule(), isPaused)
    }

    /// Whether the last thing that waits is a piece that has room.
    private mutating func joinToLast(_ data: Data) -> Bool {
        guard steps.count > next, let last = steps.indices.last, case .data(var piece) = steps[last],
            piece.count + data.count <= Self.joinedLimit
        else { return false }
        // Nobody else holds it while it grows.
        steps[last] = .spent
        piece.append(data)
        steps[last] = .data(piece)
        return true
    }

    /// The load is over: when nothing is left, the task finishes. Returns whether a turn has to be asked for.
    mutating func end() -> Bool {
        if ending == .no { ending = .over }
        return schedule()
    }

    /// Adds a question. Returns whether it will be asked, and whether a turn has to be asked for.
    mutating func ask(_ question: any TaskQuestion) -> (isIn: Bool, needsTurn: Bool) {
        if isCancelled || ending == .finished { return (false, false) }
        append(.question(question))
        return (true, schedule())
    }

    /// Adds a step before all others.
    mutating func insert(_ step: Step) {
        steps.removeFirst(next)
        next = 0
        steps.insert(step, at: 0)
    }

    /// Whether what is to be run next may call code of the program's, whosoever the delegate is.
    var isForDelegateQueue: Bool {
        guard next < steps.count else { return false }
        return switch steps[next] {
        case .certain: true
        case .question(let question): question.isForDelegateQueue
        case .call, .data, .spent: false
        }
    }

    /// Whether another sink can take the place of the one that there is: it will be told of the end.
    var mayChangeSink: Bool {
        switch ending {
        case .no, .over: !isCancelled
        case .told, .finished: false
        }
    }

    /// A question has its answer. Returns whether a turn has to be asked for.
    mutating func answered(_ question: any TaskQuestion) -> Bool {
        guard openQuestion === question else { return false }
        openQuestion = nil
        return schedule()
    }

    /// Drops what does not outlive the cancellation. The questions that come back are to be abandoned.
    mutating func cancel() -> (abandoned: [any TaskQuestion], needsTurn: Bool) {
        isCancelled = true
        return drop()
    }

    /// The load ended by force: what waits for an answer, and what stands behind that, is dropped. Nothing is dropped where
    /// nothing waits.
    mutating func breakQuestion() -> (abandoned: [any TaskQuestion], needsTurn: Bool) {
        openQuestion == nil ? ([], false) : drop()
    }

    /// Whether an answer is waited for.
    var isAsking: Bool { openQuestion != nil }

    /// Whether an answer is waited for, or will be.
    var asks: Bool {
        if openQuestion != nil { return true }
        return steps[next...].contains { if case .question = $0 { true } else { false } }
    }

    /// The time for the whole is over: as `breakQuestion`, also where the question is still to be asked.
    mutating func expire() -> (abandoned: [any TaskQuestion], needsTurn: Bool) {
        asks ? drop() : ([], false)
    }

    /// Holds content back, or lets it go on; what stands before the next piece still comes. Returns whether a turn has to be
    /// asked for.
    mutating func holdContent(_ isHeld: Bool) -> Bool {
        holdsContent = isHeld
        return schedule()
    }

    /// Whether the next step waits for something.
    private var isBlocked: Bool {
        if openQuestion != nil { return true }
        guard holdsContent, next < steps.count, case .data = steps[next] else { return false }
        return true
    }

    private mutating func drop() -> (abandoned: [any TaskQuestion], needsTurn: Bool) {
        var abandoned: [any TaskQuestion] = []
        if let openQuestion { abandoned.append(openQuestion) }
        openQuestion = nil
        var kept: [Step] = []
        for step in steps[next...] {
            switch step {
            case .certain: kept.append(step)
            case .question(let question): abandoned.append(question)
            case .call, .data, .spent: break
            }
        }
        (steps, next, waitingBytes, waitingPieces) = (kept, 0, 0, 0)
        return (abandoned, schedule())
    }

    private mutating func schedule() -> Bool {
        guard !isScheduled, !isBlocked, next < steps.count || ending == .over || ending == .told else {
            return false
        }
        isScheduled = true
        return true
    }

    // MARK: what goes out

    /// What is to be run now, on the delegate queue. `.stop` ends the turn.
    mutating func take() -> Turn {
        guard !isBlocked else {
            isScheduled = false
            return .stop
        }
        guard next < steps.count else {
            if next > 0 { steps.removeAll(keepingCapacity: true) }
            next = 0
            switch ending {
            case .over:
                ending = .told
                return .end
            case .told:
                ending = .finished
                return .finish
            case .no, .finished:
                isScheduled = false
                return .stop
            }
        }
        var step = Step.spent
        swap(&step, &steps[next])
        next += 1
        // A consumer that is always a little behind never empties it.
        if next >= Self.mostSpent, next * 2 >= steps.count {
            steps.removeFirst(next)
            next = 0
        }
        switch step {
        case .call(let call): return .call(call)
        case .certain(let call): return .certain(call)
        case .question(let question):
            openQuestion = question
            return .question(question)
        case .spent: return take()
        case .data(let data):
            waitingBytes -= data.count
            waitingPieces -= 1
            let resumes = isPaused && waitingBytes <= Self.lowMark
            if resumes { isPaused = false }
            return .data(data, resumes: resumes)
        }
    }
}
