// SPDX-License-Identifier: MIT

import Dispatch

/// The route of events to those monitors of a `CompositeEventMonitor` that have the same queue.
final class EventRoute: Sendable {
    let queue: DispatchQueue
    /// In the order in which they receive an event.
    let listeners: [EventListener]
    private let mailbox: EventMailbox

    init(queue: DispatchQueue, listeners: [EventListener], mailbox: EventMailbox) {
        self.queue = queue
        self.listeners = listeners
        self.mailbox = mailbox
    }

    /// Returns one route per queue, to the wanted listeners. Queues are compared by their mailboxes, because several objects may
    /// represent one queue.
    static func routes(
        to listeners: [EventListener], mailboxes: [EventMailbox], wanted: (EventListener) -> Bool
    ) -> [EventRoute] {
        var order: [EventMailbox] = []
        var members: [[EventListener]] = []
        for (listener, mailbox) in zip(listeners, mailboxes) where wanted(listener) {
            if let index = order.firstIndex(where: { $0 === mailbox }) {
                members[index].append(listener)
            } else {
                order.append(mailbox)
                members.append([listener])
            }
        }
        return zip(order, members).compactMap { mailbox, listeners in
            listeners.first.map { EventRoute(queue: $0.queue, listeners: listeners, mailbox: mailbox) }
        }
    }

    /// Delivers an event to the listeners on their queue, after the events sent to that queue before. Any thread.
    func send(_ event: consuming MonitorEvent) {
        mailbox.add(event, along: self)
    }

    /// The same, together with the events of other requests in the same turn of an event loop.
    func sendWithOthers(_ event: consuming MonitorEvent) { mailbox.addWithOthers(event, along: self) }

    /// Puts a turn on the queue, if events wait and none is there.
    func deliverSoon() { mailbox.deliverSoon(on: queue) }
}
