// SPDX-License-Identifier: MIT

import Dispatch

/// Delivers events to those monitors of a `CompositeEventMonitor` that have the same queue.
final class EventRoute: Sendable {
    /// The queue of all `listeners`.
    let queue: DispatchQueue
    /// The monitors, in the order in which they receive an event.
    let listeners: [EventListener]
    private let mailbox: EventMailbox

    init(queue: DispatchQueue, listeners: [EventListener], mailbox: EventMailbox) {
        self.queue = queue
        self.listeners = listeners
        self.mailbox = mailbox
    }

    /// Returns one route per queue, to the listeners for which `isIncluded` returns true. `mailboxes` contains the mailbox of
    /// each listener's queue. Queues are compared by their mailboxes, because several `DispatchQueue` objects may represent one
    /// queue.
    static func routes(
        to listeners: [EventListener], mailboxes: [EventMailbox], where isIncluded: (EventListener) -> Bool
    ) -> [EventRoute] {
        var distinctMailboxes: [EventMailbox] = []
        var groups: [[EventListener]] = []
        for (listener, mailbox) in zip(listeners, mailboxes) where isIncluded(listener) {
            if let index = distinctMailboxes.firstIndex(where: { $0 === mailbox }) {
                groups[index].append(listener)
            } else {
                distinctMailboxes.append(mailbox)
                groups.append([listener])
            }
        }
        // Every group has a first listener. All listeners of a group have the same queue.
        return zip(distinctMailboxes, groups).compactMap { mailbox, listeners in
            listeners.first.map { EventRoute(queue: $0.queue, listeners: listeners, mailbox: mailbox) }
        }
    }

    /// Delivers an event to the listeners on their queue, after the events that were sent to that queue earlier. May be called on
    /// any thread.
    func send(_ event: consuming MonitorEvent) {
        mailbox.add(event, along: self)
    }

    /// Delivers an event like `send`, but in one block with the other events of the same turn of an event loop.
    func sendBatched(_ event: consuming MonitorEvent) { mailbox.addBatched(event, along: self) }

    /// Enqueues a delivery on the queue, if events wait and no delivery is enqueued yet.
    func scheduleDelivery() { mailbox.scheduleDelivery(on: queue) }
}
