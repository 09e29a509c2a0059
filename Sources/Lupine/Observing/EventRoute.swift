// SPDX-License-Identifier: MIT

import Dispatch

/// The way of events to those monitors of a `CompositeEventMonitor` that listen on one queue.
final class EventRoute: Sendable {
    let queue: DispatchQueue
    /// In the order in which they are told.
    let listeners: [EventListener]
    private let mailbox: EventMailbox

    init(queue: DispatchQueue, listeners: [EventListener], mailbox: EventMailbox) {
        self.queue = queue
        self.listeners = listeners
        self.mailbox = mailbox
    }

    /// One route per queue, to the listeners that are wanted. Queues are told apart by their mailboxes: one queue may
    /// be known by several objects.
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

    /// Has the listeners told, on their queue, after what was sent to that queue before. Any thread.
    func send(_ event: consuming MonitorEvent) { mailbox.add(event, along: self) }

    /// The same of several events for the queue, in one block. None is left in `entries`. `mayWait` is as for the mailbox.
    func send(_ entries: inout [EventMailbox.Entry], mayWait: Bool) {
        mailbox.add(&entries, on: queue, mayWait: mayWait)
    }
}
