// SPDX-License-Identifier: MIT

import Dispatch
internal import LupineLoading

/// What waits until a root queue is through with what it has before it, so that other threads are woken once for many
/// requests: notifications that are to be posted on the main queue, and tasks that await a response.
///
/// Their threads mostly sleep; waking one for each request costs more than the request. So the first that waits puts one
/// block behind all that the root queue has to do, and what comes until then goes the same way. What is about to be put on
/// a queue of the program's has the turn of that queue's mailbox put there before it: a notification is never overtaken.
/// Mailboxes whose turn has just been wait until `pace` is over. Tasks wait for the next response at most when `patience` is over or
/// as many as `company` wait. Found from the blocks of the root queue, and of those that target it.
final class RootBurst: Sendable {
    private static let key = DispatchSpecificKey<RootBurst>()

    /// How long it is between two turns of mailboxes at least, unless a handler comes, in nanoseconds.
    private static let pace: UInt64 = 1_000_000

    /// How long the first task may have waited when another one comes, in nanoseconds.
    private static let patience: UInt64 = 500_000

    /// How many tasks may wait.
    private static let company = 32

    private struct Turn {
        let mailbox: EventMailbox
        let queue: DispatchQueue
    }

    private struct State {
        var turns: [Turn] = []
        /// When mailboxes last had their turn.
        var lastTurns: UInt64 = 0
        /// Whether a block that waits for the pace is going to give them their turn.
        var isPaced = false
        var tasks: [WaitingTask] = []
        /// When the first of the tasks began to wait.
        var beginning: UInt64 = 0
        /// Whether the block that ends the burst is on the root queue.
        var isEnding = false

        /// Whether the caller has to put the block that ends the burst on the root queue.
        mutating func needsEnd() -> Bool {
            if isEnding { return false }
            isEnding = true
            return true
        }

        mutating func takeTurns(at now: UInt64) -> [Turn] {
            lastTurns = now
            defer { turns.removeAll(keepingCapacity: true) }
            return turns
        }

        mutating func takeTasks() -> [WaitingTask] {
            defer { tasks.removeAll(keepingCapacity: true) }
            return tasks
        }
    }

    private let state = Protected(State())

    /// Has what waits on that queue's behalf wait in a burst.
    static func begin(on rootQueue: DispatchQueue) {
        if burst(of: rootQueue) == nil { rootQueue.setSpecific(key: key, value: RootBurst()) }
    }

    /// That of this root queue.
    static func burst(of rootQueue: DispatchQueue) -> RootBurst? { rootQueue.getSpecific(key: key) }

    /// That of the root queue that the caller is on.
    static var current: RootBurst? { DispatchQueue.getSpecific(key: key) }

    /// Has the mailbox take its turn when `rootQueue`, on which the caller is, has come to the end of what it has now.
    func add(_ mailbox: EventMailbox, for queue: DispatchQueue, behind rootQueue: DispatchQueue) {
        let needsEnd = state.write { state in
            if state.turns.contains(where: { $0.mailbox === mailbox }) { return false }
            state.turns.append(Turn(mailbox: mailbox, queue: queue))
            return !state.isPaced && state.needsEnd()
        }
        if needsEnd { rootQueue.async { self.end(on: rootQueue) } }
    }

    /// Lets the task go on, and the others, when `rootQueue`, on which the caller is, has come to the end of what it has now, or in a later
    /// block of it; never in the block that the caller is in.
    func letGo(
        _ task: WaitingTask, _ others: [WaitingTask],
        behind rootQueue: DispatchQueue
    ) {
        let now = DispatchTime.now().uptimeNanoseconds
        let (needsEnd, due) = state.write { state in
            var due: [WaitingTask] = []
            if state.tasks.count >= Self.company || now - state.beginning > Self.patience {
                due = state.takeTasks()
            }
            if state.tasks.isEmpty { state.beginning = now }
            state.tasks.append(task)
            if !others.isEmpty { state.tasks.append(contentsOf: others) }
            return (state.needsEnd(), due)
        }
        for task in due { task.goOn() }
        if needsEnd { rootQueue.async { self.end(on: rootQueue) } }
    }

    private func end(on rootQueue: DispatchQueue) {
        let now = DispatchTime.now().uptimeNanoseconds
        let (turns, isPaced, tasks) = state.write { state in
            state.isEnding = false
            let tasks = state.takeTasks()
            if state.turns.isEmpty || state.isPaced { return ([Turn](), false, tasks) }
            if now - state.lastTurns < Self.pace {
                state.isPaced = true
                return ([], true, tasks)
            }
            return (state.takeTurns(at: now), false, tasks)
        }
        for turn in turns { turn.mailbox.putTurn(on: turn.queue) }
        for task in tasks { task.goOn() }
        if isPaced {
            _ = rootQueue.after(.nanoseconds(Self.pace)) { self.endPaced() }
        }
    }

    private func endPaced() {
        let now = DispatchTime.now().uptimeNanoseconds
        let turns = state.write { state in
            state.isPaced = false
            return state.takeTurns(at: now)
        }
        for turn in turns { turn.mailbox.putTurn(on: turn.queue) }
    }

    /// Takes the mailbox out; false if it does not wait here.
    fileprivate func take(_ mailbox: EventMailbox) -> Bool {
        state.write { state in
            guard let place = state.turns.firstIndex(where: { $0.mailbox === mailbox }) else { return false }
            state.turns.remove(at: place)
            return true
        }
    }
}

extension DispatchQueue {
    /// Puts a handler of the program's on the queue, behind all events that are to be told there.
    func deliver(_ handler: @escaping @Sendable () -> Void) {
        if let burst = RootBurst.current, let mailbox = EventMailbox.existing(of: self), burst.take(mailbox) {
            mailbox.putTurn(on: self)
        }
        async(execute: handler)
    }
}

extension DispatchQueue? {
    /// Hands the response to a handler of the program's: on the queue, see `deliver(_:)`, or here and now if there is none.
    func deliver<Response: Sendable>(
        _ response: Response, to handler: @escaping @Sendable (Response) -> Void
    ) {
        assertNoLockIsHeld()
        guard let queue = self else { return handler(response) }
        queue.deliver { handler(response) }
    }
}
