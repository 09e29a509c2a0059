// SPDX-License-Identifier: MIT

import Dispatch
internal import LupineLoading

/// The events of all sessions and requests that wait to be delivered on one dispatch queue.
///
/// The first waiting event enqueues a block that delivers a batch; events that arrive before the block begins join the batch. A
/// busy queue thus holds one block for all waiting events. On a serial queue, an event is still delivered before any block that
/// is enqueued after it, above all before response handlers of the program. `addBatched` gives up that order for requests without
/// response handlers.
///
/// All senders share the one mailbox of a queue: with two mailboxes, a monitor of both a session and a request could receive
/// events in the wrong order. The queue owns its mailbox (`setSpecific`).
final class EventMailbox: Sendable {
    private struct Entry {
        let event: MonitorEvent
        let route: EventRoute
    }

    private struct State {
        var waiting: [Entry] = []
        /// Whether the queue holds a delivery block that has not begun.
        var isDeliveryEnqueued = false
        /// The number of deliveries that have begun so far.
        var begunDeliveries = 0
    }

    /// The largest capacity, in events, that the array of waiting events keeps from one delivery to the next.
    private static let maximumKeptCapacity = 256

    private static let key = DispatchSpecificKey<EventMailbox>()
    /// Serializes the creation of mailboxes. The value has no meaning.
    private static let creationLock = Protected(0)

    private let state = Protected(State())

    private init() {}

    /// Returns the mailbox of a queue, which is created on first use.
    static func mailbox(of queue: DispatchQueue) -> EventMailbox {
        creationLock.write { _ in
            if let mailbox = queue.getSpecific(key: key) { return mailbox }
            let mailbox = EventMailbox()
            queue.setSpecific(key: key, value: mailbox)
            return mailbox
        }
    }

    /// Delivers an event to the listeners of a route, on their queue. The mailbox does not retain its queue, so the route
    /// supplies it.
    func add(_ event: consuming MonitorEvent, along route: EventRoute) {
        var entry: Entry? = Entry(event: event, route: route)
        let begunDeliveries: Int? = state.write { state in
            // The entry is moved into the array, not copied.
            if let entry = entry.take() { state.waiting.append(consume entry) }
            return state.isDeliveryEnqueued ? nil : state.begunDeliveries
        }
        if let begunDeliveries { enqueueDelivery(after: begunDeliveries, on: route.queue) }
    }

    /// Adds an event like `add`, but on an event loop's thread enqueues its delivery only at the end of the loop's turn, so that
    /// all events of the turn share one block.
    func addBatched(_ event: consuming MonitorEvent, along route: EventRoute) {
        var entry: Entry? = Entry(event: event, route: route)
        state.write { state in
            if let entry = entry.take() { state.waiting.append(consume entry) }
        }
        TurnEnd.perform { [self] in scheduleDelivery(on: route.queue) }
    }

    /// Enqueues a delivery on the queue, if events wait and no delivery is enqueued yet.
    func scheduleDelivery(on queue: DispatchQueue) {
        let begunDeliveries: Int? = state.write { state in
            state.isDeliveryEnqueued || state.waiting.isEmpty ? nil : state.begunDeliveries
        }
        if let begunDeliveries { enqueueDelivery(after: begunDeliveries, on: queue) }
    }

    /// Enqueues a delivery on the queue. `begunDeliveries` is the number of deliveries that had begun when the caller decided to
    /// enqueue this one.
    private func enqueueDelivery(after begunDeliveries: Int, on queue: DispatchQueue) {
        // Not under the lock, because the delivery may begin on another thread at once. A sender that finds `isDeliveryEnqueued`
        // not yet set enqueues another block, since the first one may not be on the queue yet.
        queue.async { self.deliverWaiting() }
        state.write { state in
            // If a delivery has begun meanwhile, it may be this one, which then is no longer on the queue.
            if state.begunDeliveries == begunDeliveries { state.isDeliveryEnqueued = true }
        }
    }

    /// Delivers all events that wait now. On the queue.
    private func deliverWaiting() {
        var batch: [Entry] = []
        state.write { state in
            swap(&batch, &state.waiting)
            state.isDeliveryEnqueued = false
            state.begunDeliveries += 1
        }
        // The user info of notifications, which the events of the batch reuse.
        var subject: AlamofireNotifications.Subject?
        for index in batch.indices {
            assertNoLockIsHeld()
            for listener in batch[index].route.listeners { listener.receive(batch[index].event, &subject) }
        }
        // The buffer is reused for the next events.
        batch.removeAll(keepingCapacity: batch.count <= Self.maximumKeptCapacity)
        state.write { state in
            if state.waiting.capacity < batch.capacity, state.waiting.isEmpty { swap(&batch, &state.waiting) }
        }
    }
}
