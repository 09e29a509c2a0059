// SPDX-License-Identifier: MIT

import Dispatch
internal import LupineLoading

/// The events that wait for their turn on one dispatch queue, of all sessions and requests.
///
/// The first event that waits puts a turn on the queue; those that come before the turn begins share it. So a busy queue
/// has one block per batch, and still an event is told before anything that is put on a serial queue after it: handlers
/// of the program's, above all. A queue has one mailbox, whoever sends: two would tell a monitor of a session and a request in
/// the wrong order. It lives as long as its queue.
final class EventMailbox: Sendable {
    /// An event, and the way that it goes.
    struct Entry {
        let event: MonitorEvent
        let route: EventRoute
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

    /// Has the listeners of the route told of the event on the mailbox's queue, which the mailbox does not keep alive itself.
    func add(_ event: consuming MonitorEvent, along route: EventRoute) {
        var entry: Entry? = Entry(event: event, route: route)
        let needsTurn = state.write { state in
            // Moved, not copied.
            if let entry = entry.take() { state.waiting.append(consume entry) }
            return !state.isOnQueue
        }
        if needsTurn { putTurn(on: route.queue) }
    }

    /// The same of several events, which are taken out of `entries`.
    ///
    /// - Parameter mayWait: Nothing follows that is put on a queue before the turn ends of the event loop that the caller is on: the
    ///   events may wait for that, too.
    func add(_ entries: inout [Entry], on queue: DispatchQueue, mayWait: Bool = false) {
        let needsTurn = state.write { state in
            if state.waiting.isEmpty { swap(&entries, &state.waiting) } else { state.waiting += entries }
            return !state.isOnQueue
        }
        entries = []
        if !needsTurn || mayWait && Opening(mailbox: self, queue: queue).wakesAtTurnEnd() { return }
        putTurn(on: queue)
    }

    /// Puts a turn on the queue when that of an event loop ends.
    private final class Opening: Waker {
        private let mailbox: EventMailbox
        private let queue: DispatchQueue

        init(mailbox: EventMailbox, queue: DispatchQueue) { (self.mailbox, self.queue) = (mailbox, queue) }

        func turnEnded() { mailbox.putTurn(on: queue) }
    }

    /// Puts a turn on the queue, if something waits for one.
    private func putTurn(on queue: DispatchQueue) {
        let turns: Int? = state.write { state in
            state.waiting.isEmpty || state.isOnQueue ? nil : state.turns
        }
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
        for index in batch.indices {
            assertNoLockIsHeld()
            for listener in batch[index].route.listeners { listener.hear(batch[index].event, &subject) }
        }
        // The room that it took is there for the next ones.
        batch.removeAll(keepingCapacity: batch.count <= Self.mostKept)
        state.write { state in
            if state.waiting.capacity < batch.capacity, state.waiting.isEmpty { swap(&batch, &state.waiting) }
        }
    }
}
