// SPDX-License-Identifier: MIT

import Dispatch

/// The way of events to those monitors of a `CompositeEventMonitor` that listen on one queue.
final class EventRoute: Sendable {
    private let queue: DispatchQueue
    /// The root queue behind whose present work the events may wait; nil when somebody may look for them sooner.
    private let rootQueue: DispatchQueue?
    private let mailbox: EventMailbox
    /// In the order in which they are told.
    private let listeners: [EventListener]

    private init(
        queue: DispatchQueue, rootQueue: DispatchQueue?, mailbox: EventMailbox, listeners: [EventListener]
    ) {
        self.queue = queue
        self.rootQueue = rootQueue
        self.mailbox = mailbox
        self.listeners = listeners
    }

    /// One route per queue, to the listeners that are wanted. Queues are told apart by their mailboxes: one queue may
    /// be known by several objects.
    static func routes(
        to listeners: [EventListener], mailboxes: [EventMailbox], from rootQueue: DispatchQueue,
        wanted: (EventListener) -> Bool
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
            listeners.first.map { first in
                EventRoute(
                    queue: first.queue,
                    rootQueue: listeners.allSatisfy(\.hearsNotedEventsOnly) ? rootQueue : nil,
                    mailbox: mailbox, listeners: listeners)
            }
        }
    }

    /// Has the listeners told, on their queue, after what was sent to that queue before. Any thread.
    func send(_ event: consuming MonitorEvent) {
        mailbox.add(event, for: listeners, on: queue, behind: rootQueue)
    }
}
