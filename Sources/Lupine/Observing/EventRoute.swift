// SPDX-License-Identifier: MIT

import Dispatch
internal import LupineLoading

/// Delivers events to those monitors of a `CompositeEventMonitor` that have the same queue.
final class EventRoute: Sendable {
    /// The queue of all `listeners`.
    let queue: DispatchQueue
    /// The monitors, in the order in which they receive an event.
    private let listeners: [EventListener]
    private let mailbox: EventMailbox
    /// Enqueues the delivery of notifications that were sent with `sendBatched`.
    private let turnEnd: TurnEnd

    /// - Parameters:
    ///   - queue: The queue of all `listeners`.
    ///   - listeners: The monitors, in the order in which they receive an event.
    ///   - mailbox: The mailbox of the queue.
    ///   - session: The session whose event loops enqueue batched deliveries; nil for none.
    init(
        queue: DispatchQueue, listeners: [EventListener], mailbox: EventMailbox, session: URLSession?
    ) {
        self.queue = queue
        self.listeners = listeners
        self.mailbox = mailbox
        turnEnd = TurnEnd(of: session) { mailbox.endBatch(on: queue) }
    }

    /// Returns one route per queue, to the listeners for which `isIncluded` returns true. `mailboxes` contains the mailbox of
    /// each listener's queue. Queues are compared by their mailboxes, because several `DispatchQueue` objects may represent one
    /// queue.
    static func routes(
        to listeners: [EventListener], mailboxes: [EventMailbox], session: URLSession?,
        where isIncluded: (EventListener) -> Bool
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
            listeners.first.map {
                EventRoute(queue: $0.queue, listeners: listeners, mailbox: mailbox, session: session)
            }
        }
    }

    /// Delivers an event to the listeners on their queue, after the events that were sent to that queue earlier. May be called on
    /// any thread.
    func send(_ event: consuming MonitorEvent) {
        mailbox.add(event, along: self)
    }

    /// Posts notifications about a request on the queue, in the same order as `send` delivers events.
    func send(_ notifications: RequestNotifications, about request: Request) {
        mailbox.add(notifications, about: request, along: self)
    }

    /// Posts notifications like `send`, but in one block with those of other requests. The block is enqueued at the end of a turn
    /// of an event loop (`TurnEnd`).
    func sendBatched(_ notifications: RequestNotifications, about request: Request) {
        let beginsBatch = mailbox.addBatched(notifications, about: request, along: self)
        if beginsBatch { turnEnd.perform() }
    }

    /// Calls the listeners' methods for an event. Called on the queue. The notifications of a batch share `userInfo`.
    func deliver(_ event: MonitorEvent, reusing userInfo: inout AlamofireNotifications.ReusableUserInfo?) {
        for listener in listeners { listener.receive(event, reusing: &userInfo) }
    }

    /// Has the listeners post notifications about a request, like `deliver`.
    func deliver(
        _ notifications: RequestNotifications, about request: Request,
        reusing userInfo: inout AlamofireNotifications.ReusableUserInfo?
    ) {
        for listener in listeners { listener.receive(notifications, about: request, reusing: &userInfo) }
    }

    /// Enqueues a delivery on the queue, if events wait and no delivery is enqueued yet.
    func scheduleDelivery() { mailbox.scheduleDelivery(on: queue) }
}
