// SPDX-License-Identifier: MIT

import Dispatch

/// The events that wait for their turn on one dispatch queue, of all sessions and requests.
///
/// The first event that waits puts a turn on the queue; those that come before the turn begins share it. So a busy queue
/// has one block per batch, and still an event is told before anything that is put on a serial queue after it: handlers
/// of the program's, above all. Notifications may wait for their turn a little longer, see `RootBurst`. A queue has one
/// mailbox, whoever sends: two would tell a monitor of a session and a request in the wrong order. It lives as long as its
/// queue.
final class EventMailbox: Sendable {
    private struct Entry {
        let event: MonitorEvent
        let listeners: [EventListener]
    }

    private struct State {
        var waiting: [Entry] = []
        /// Whether a turn that has not begun is on the queue.
        var isOnQueue = false
        /// How many turns have begun.
        var turns = 0
    }

    /// The room of so many events is kept from one turn to the next.
    private static let mostKept = 256

    private static let key = DispatchSpecificKey<EventMailbox>()
    private static let assignment = Protected(0)

    private let state = Protected(State())

    private init() {}

    /// The mailbox of that queue, made when it is first asked for.
    static func mailbox(of queue: DispatchQueue) -> EventMailbox {
        assignment.write { _ in
            if let mailbox = queue.getSpecific(key: key) { return mailbox }
            let mailbox = EventMailbox()
            queue.setSpecific(key: key, value: mailbox)
            return mailbox
        }
    }

    /// The mailbox of that queue, if it has one.
    static func existing(of queue: DispatchQueue) -> EventMailbox? { queue.getSpecific(key: key) }

    /// Has the listeners told of the event on the mailbox's queue, which the mailbox does not keep alive itself.
    ///
    /// - Parameter rootQueue: Behind what this queue has now, if it is given and the caller is on it; else at once.
    func add(
        _ event: consuming MonitorEvent, for listeners: [EventListener], on queue: DispatchQueue,
        behind rootQueue: DispatchQueue?
    ) {
        var entry: Entry? = Entry(event: event, listeners: listeners)
        let needsTurn = state.write { state in
            // Moved, not copied.
            if let entry = entry.take() { state.waiting.append(entry) }
            return !state.isOnQueue
        }
        guard needsTurn else { return }
        if let rootQueue, let burst = RootBurst.current {
            burst.add(self, for: queue, behind: rootQueue)
        } else {
            putTurn(on: queue)
        }
    }

    /// Puts a turn on the queue, if something waits for one.
    func putTurn(on queue: DispatchQueue) {
        let turns: Int? = state.read { $0.waiting.isEmpty || $0.isOnQueue ? nil : $0.turns }
        // Not under the lock: the turn begins on another thread while this one is still here. Whoever comes meanwhile puts a
        // turn of its own on the queue, because it may not rely on one that is not there yet.
        guard let turns else { return }
        queue.async { self.takeTurn() }
        state.write { state in
            if state.turns == turns { state.isOnQueue = true }
        }
    }

    private func takeTurn() {
        var batch: [Entry] = []
        state.write { state in
            swap(&batch, &state.waiting)
            state.isOnQueue = false
            state.turns += 1
        }
        var subject: AlamofireNotifications.Subject?
        for entry in batch {
            for listener in entry.listeners { listener.hear(entry.event, &subject) }
        }
        // The room that it took is there for the next ones.
        batch.removeAll(keepingCapacity: batch.count <= Self.mostKept)
        state.write { state in
            if state.waiting.capacity < batch.capacity, state.waiting.isEmpty { swap(&batch, &state.waiting) }
        }
    }
}
