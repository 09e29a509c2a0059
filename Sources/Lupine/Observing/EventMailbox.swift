// SPDX-License-Identifier: MIT

import Dispatch
internal import LupineLoading

/// The events of all sessions and requests that wait to be delivered on one dispatch queue.
///
/// The first waiting event enqueues a block that delivers a batch. Events that arrive before the block begins join the batch, so
/// a busy queue holds one block for all waiting events. On a serial queue, the monitors receive an event before any block runs
/// that is enqueued after the event; such blocks call the response handlers of the program. `addBatched` does not keep this
/// order: it is for requests without response handlers.
///
/// All senders share the one mailbox of a queue: with two mailboxes, a monitor of both a session and a request could receive
/// events in the wrong order. The queue owns its mailbox (`setSpecific`).
final class EventMailbox: Sendable {
    /// An event or notifications, and the route that leads to the monitors.
    private enum Entry {
        case event(MonitorEvent, EventRoute)
        case notifications(RequestNotifications, Request, EventRoute)
    }

    private struct State {
        /// The events to deliver, in the order in which they were added. None is nil: a delivery takes them out one by one.
        var waitingEntries: [Entry?] = []
        /// Whether the queue holds a delivery block that has not begun.
        var isDeliveryEnqueued = false
        /// Whether `endBatch` will be called at the end of a turn, to enqueue a delivery.
        var hasBatch = false
        /// The number of deliveries that have begun so far.
        var begunDeliveryCount = 0
    }

    /// The largest capacity, in events, that the array of waiting events keeps from one delivery to the next.
    private static let maximumReusedCapacity = 256

    /// The key under which a queue stores its mailbox.
    private static let key = DispatchSpecificKey<EventMailbox>()
    /// The lock under which mailboxes are created, so that a queue gets only one. Its value is not used.
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

    /// Delivers an event to the listeners of a route, on their queue. The route supplies the queue, because the mailbox does not
    /// retain it: the queue owns the mailbox.
    func add(_ event: consuming MonitorEvent, along route: EventRoute) {
        add(.event(consume event, route), on: route.queue)
    }

    /// Posts notifications about a request, by the listeners of a route, on their queue.
    func add(_ notifications: RequestNotifications, about request: Request, along route: EventRoute) {
        add(.notifications(notifications, request, route), on: route.queue)
    }

    private func add(_ entry: consuming Entry, on queue: DispatchQueue) {
        var entry: Entry? = consume entry
        // Nil if a delivery is enqueued already, which will include the entry.
        let begunDeliveryCount: Int? = state.write { state in
            // The entry is moved into the array, not copied.
            state.waitingEntries.append(entry.take())
            return state.isDeliveryEnqueued ? nil : state.begunDeliveryCount
        }
        if let begunDeliveryCount { enqueueDelivery(after: begunDeliveryCount, on: queue) }
    }

    /// Adds notifications like `add`, but enqueues no delivery. Returns whether they begin a batch; the caller must then have
    /// `endBatch` called at the end of a turn of an event loop.
    func addBatched(
        _ notifications: RequestNotifications, about request: Request, along route: EventRoute
    ) -> Bool {
        // The entry is moved into the array, as in `add`.
        var entry: Entry? = .notifications(notifications, request, route)
        return state.write { state in
            state.waitingEntries.append(entry.take())
            if state.hasBatch || state.isDeliveryEnqueued { return false }
            state.hasBatch = true
            return true
        }
    }

    /// Enqueues the delivery of a batch, unless a delivery is enqueued or has delivered the batch.
    func endBatch(on queue: DispatchQueue) {
        state.write { $0.hasBatch = false }
        scheduleDelivery(on: queue)
    }

    /// Enqueues a delivery on the queue, if events wait and no delivery is enqueued yet.
    func scheduleDelivery(on queue: DispatchQueue) {
        // Nil if there is nothing to enqueue.
        let begunDeliveryCount: Int? = state.write { state in
            state.isDeliveryEnqueued || state.waitingEntries.isEmpty ? nil : state.begunDeliveryCount
        }
        if let begunDeliveryCount { enqueueDelivery(after: begunDeliveryCount, on: queue) }
    }

    /// Enqueues a delivery on the queue. `begunDeliveryCount` is the number of deliveries that had begun when the caller decided
    /// to enqueue this one.
    private func enqueueDelivery(after begunDeliveryCount: Int, on queue: DispatchQueue) {
        // The block is enqueued outside the lock, because it takes the lock and may begin on another thread at once. Meanwhile
        // `isDeliveryEnqueued` is still false, so another sender may enqueue a second block, which does no harm.
        queue.async { self.deliverWaitingEvents() }
        state.write { state in
            // If a delivery has begun since, it may be this one. The queue then holds no block that has not begun.
            if state.begunDeliveryCount == begunDeliveryCount { state.isDeliveryEnqueued = true }
        }
    }

    /// Delivers all waiting events to their listeners. Called on the queue.
    private func deliverWaitingEvents() {
        var batch: [Entry?] = []
        state.write { state in
            swap(&batch, &state.waitingEntries)
            state.isDeliveryEnqueued = false
            state.begunDeliveryCount += 1
        }
        // All notifications of the batch reuse this user info.
        var userInfo: AlamofireNotifications.ReusableUserInfo?
        for index in batch.indices {
            // The entry is moved out of the array, not copied.
            guard let entry = batch[index].take() else { continue }
            assertNoLockIsHeld()
            switch consume entry {
            case .event(let event, let route): route.deliver(event, reusing: &userInfo)
            case .notifications(let notifications, let request, let route):
                route.deliver(notifications, about: request, reusing: &userInfo)
            }
        }
        // The array's buffer is reused for the next events, unless it is large.
        if batch.capacity > Self.maximumReusedCapacity { return }
        batch.removeAll(keepingCapacity: true)
        state.write { state in
            let isBufferUseful =
                state.waitingEntries.isEmpty && state.waitingEntries.capacity < batch.capacity
            if isBufferUseful { swap(&batch, &state.waitingEntries) }
        }
    }
}
