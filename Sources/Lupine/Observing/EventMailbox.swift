// SPDX-License-Identifier: MIT

import Dispatch
internal import LupineLoading

/// The events of all sessions and requests that wait to be delivered on one dispatch queue.
///
/// The first waiting event puts a block, called a turn, on the queue; events that arrive before the turn begins share it. A busy
/// queue thus has one block per batch, and an event is still delivered before anything that is put on a serial queue after it,
/// above all before handlers of the program. Notifications may wait a little longer, see `ResumptionBatch`. A queue has one mailbox for
/// all senders: with two, a monitor of both a session and a request could receive events in the wrong order. It lives as long as
/// its queue.
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
        /// The batch that will put a turn on the queue; nil when there may be none.
        var batch: ObjectIdentifier?

        /// Whether the sender of an event that was just added has to arrange for a turn; `batch` is the one that the sender would
        /// use.
        mutating func needsTurn(in batch: ResumptionBatch?) -> Bool {
            if isOnQueue { return false }
            guard let batch else { return true }
            if self.batch == ObjectIdentifier(batch) { return false }
            self.batch = ObjectIdentifier(batch)
            return true
        }
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

    /// Returns the mailbox of a queue, if it has one.
    static func existing(of queue: DispatchQueue) -> EventMailbox? { queue.getSpecific(key: key) }

    /// Delivers an event to the listeners of a route, on their queue: after the present work of the root queue if the route has a
    /// batch and the caller is on that root queue, otherwise as soon as possible. The mailbox does not retain its queue.
    func add(_ event: consuming MonitorEvent, along route: EventRoute) {
        // On other queues it is not known when the root queue drains.
        let batch = route.batch.flatMap { $0 === ResumptionBatch.current ? $0 : nil }
        var entry: Entry? = Entry(event: event, route: route)
        let needsTurn = state.write { state in
            // Moved, not copied.
            if let entry = entry.take() { state.waiting.append(consume entry) }
            return state.needsTurn(in: batch)
        }
        guard needsTurn else { return }
        guard let batch else { return putTurn(on: route.queue) }
        batch.add(self, for: route.queue, behind: route.rootQueue)
    }

    /// Puts a turn on the queue, if events are waiting and no turn is there.
    func putTurn(on queue: DispatchQueue) {
        let turns: Int? = state.write { state in
            state.batch = nil
            return state.waiting.isEmpty || state.isOnQueue ? nil : state.turns
        }
        // Not under the lock, because the turn may begin on another thread at once. A sender that arrives before `isOnQueue` is
        // set puts a turn of its own on the queue, since it cannot rely on one that is not there yet.
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
        // The buffer is reused for the next events.
        batch.removeAll(keepingCapacity: batch.count <= Self.mostKept)
        state.write { state in
            if state.waiting.capacity < batch.capacity, state.waiting.isEmpty { swap(&batch, &state.waiting) }
        }
    }
}
