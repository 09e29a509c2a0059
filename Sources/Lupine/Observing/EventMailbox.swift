// SPDX-License-Identifier: MIT

import Dispatch
internal import LupineLoading

/// The events of all sessions and requests that wait to be delivered on one dispatch queue.
///
/// The first waiting event puts a block, called a turn, on the queue; events that arrive before the turn begins share it. A busy
/// queue thus has one block for all that waits, and an event is still delivered before anything that is put on a serial queue
/// after it, above all before handlers of the program. Events of requests that have none may come a little later
/// (`addWithOthers`). A queue has one mailbox for all senders: with two, a monitor of both a session and a request could receive
/// events in the wrong order. It lives as long as its queue.
final class EventMailbox: Sendable {
    private struct Entry {
        let event: MonitorEvent
        let route: EventRoute
    }

    private struct State {
        var waiting: [Entry] = []
        /// Whether a turn is on the queue and has not begun.
        var isOnQueue = false
        /// The number of turns that have begun.
        var turns = 0
    }

    /// The largest capacity, in events, that is kept from one turn to the next.
    private static let mostKept = 256

    private static let key = DispatchSpecificKey<EventMailbox>()
    private static let assignment = Protected(0)

    private let state = Protected(State())

    private init() {}

    /// Returns the mailbox of a queue, which is created on first use.
    static func mailbox(of queue: DispatchQueue) -> EventMailbox {
        assignment.write { _ in
            if let mailbox = queue.getSpecific(key: key) { return mailbox }
            let mailbox = EventMailbox()
            queue.setSpecific(key: key, value: mailbox)
            return mailbox
        }
    }

    /// Delivers an event to the listeners of a route, on their queue. The mailbox does not retain its queue.
    func add(_ event: consuming MonitorEvent, along route: EventRoute) {
        var entry: Entry? = Entry(event: event, route: route)
        let turns: Int? = state.write { state in
            // Moved, not copied.
            if let entry = entry.take() { state.waiting.append(consume entry) }
            return state.isOnQueue ? nil : state.turns
        }
        if let turns { putTurn(turns, on: route.queue) }
    }

    /// The same, but on an event loop the event shares a turn with all others of the loop's turn.
    func addWithOthers(_ event: consuming MonitorEvent, along route: EventRoute) {
        var entry: Entry? = Entry(event: event, route: route)
        state.write { state in
            if let entry = entry.take() { state.waiting.append(consume entry) }
        }
        TurnEnd.perform { [self] in deliverSoon(on: route.queue) }
    }

    /// Puts a turn on the queue, if events wait and none is there.
    func deliverSoon(on queue: DispatchQueue) {
        let turns: Int? = state.write { $0.isOnQueue || $0.waiting.isEmpty ? nil : $0.turns }
        if let turns { putTurn(turns, on: queue) }
    }

    /// Puts a turn on the queue, which is the one after `turns` others.
    private func putTurn(_ turns: Int, on queue: DispatchQueue) {
        // Not under the lock, because the turn may begin on another thread at once. A sender that arrives before `isOnQueue` is
        // set puts a turn of its own on the queue, since it cannot rely on one that is not there yet.
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
        // The buffer is reused for the next events.
        batch.removeAll(keepingCapacity: batch.count <= Self.mostKept)
        state.write { state in
            if state.waiting.capacity < batch.capacity, state.waiting.isEmpty { swap(&batch, &state.waiting) }
        }
    }
}
