// SPDX-License-Identifier: MIT

import Dispatch
internal import LupineLoading

/// Batches wake-ups until a root queue drains, so that other threads are woken once for many requests. It holds notifications
/// that are to be posted on the main queue, and Swift tasks that await a response.
///
/// These threads mostly sleep; waking one for each request costs more than the request. The first item that waits puts one block
/// on the root queue, after all present work; items that are added before that block runs share it. Before a handler of the
/// program is put on a queue, the turn of that queue's mailbox is put there, so a handler never overtakes a notification. After a
/// turn, mailboxes wait until `pace` has elapsed. Tasks are resumed by the block, or earlier when another task is added, if the
/// first one has waited for `maximumDelay` or `batchLimit` tasks wait. The batch is found from the blocks of its root queue, and of
/// queues that target it.
final class ResumptionBatch: Sendable {
    private static let key = DispatchSpecificKey<ResumptionBatch>()

    /// The minimum time between two turns of mailboxes, unless a handler is dispatched, in nanoseconds.
    private static let pace: UInt64 = 1_000_000

    /// If the first task has waited longer than this when another one is added, the waiting tasks are resumed. In nanoseconds.
    private static let maximumDelay: UInt64 = 500_000

    /// If this many tasks wait when another one is added, they are resumed.
    private static let batchLimit = 32

    private struct Turn {
        let mailbox: EventMailbox
        let queue: DispatchQueue
    }

    private struct State {
        var turns: [Turn] = []
        /// The uptime of the last turns, in nanoseconds.
        var lastTurns: UInt64 = 0
        /// Whether a delayed block will put the turns on their queues once `pace` has elapsed.
        var isPaced = false
        var tasks: [WaitingTask] = []
        /// The time at which the first of the tasks began to wait.
        var beginning: UInt64 = 0
        /// Whether the block that ends the batch is on the root queue.
        var isEnding = false

        /// Whether the caller has to put the block that ends the batch on the root queue.
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

    /// Creates the batch of a root queue, if it has none.
    static func begin(on rootQueue: DispatchQueue) {
        if batch(of: rootQueue) == nil { rootQueue.setSpecific(key: key, value: ResumptionBatch()) }
    }

    /// Returns the batch of a root queue.
    static func batch(of rootQueue: DispatchQueue) -> ResumptionBatch? { rootQueue.getSpecific(key: key) }

    /// The batch of the root queue that the caller is on.
    static var current: ResumptionBatch? { DispatchQueue.getSpecific(key: key) }

    /// Lets the mailbox take its turn after the present work of `rootQueue`, which the caller is on.
    func add(_ mailbox: EventMailbox, for queue: DispatchQueue, behind rootQueue: DispatchQueue) {
        let needsEnd = state.write { state in
            if state.turns.contains(where: { $0.mailbox === mailbox }) { return false }
            state.turns.append(Turn(mailbox: mailbox, queue: queue))
            return !state.isPaced && state.needsEnd()
        }
        if needsEnd { rootQueue.async { self.end(on: rootQueue) } }
    }

    /// Resumes the tasks after the present work of `rootQueue`, which the caller is on, or in a later block of it; never in the
    /// caller's own block.
    func letGo(
        _ task: WaitingTask, _ others: [WaitingTask],
        behind rootQueue: DispatchQueue
    ) {
        let now = DispatchTime.now().uptimeNanoseconds
        let (needsEnd, due) = state.write { state in
            var due: [WaitingTask] = []
            if state.tasks.count >= Self.batchLimit || now - state.beginning > Self.maximumDelay {
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

    /// Removes the mailbox. Returns false if it does not wait here.
    func take(_ mailbox: EventMailbox) -> Bool {
        state.write { state in
            guard let place = state.turns.firstIndex(where: { $0.mailbox === mailbox }) else { return false }
            state.turns.remove(at: place)
            return true
        }
    }
}
