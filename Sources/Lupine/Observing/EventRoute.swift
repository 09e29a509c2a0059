// SPDX-License-Identifier: MIT

import Dispatch

/// The route of events to those monitors of a `CompositeEventMonitor` that have the same queue.
final class EventRoute: Sendable {
    let queue: DispatchQueue
    /// In the order in which they receive an event.
    let listeners: [EventListener]
    /// The batch in which events may wait for the present work of the root queue; nil if a listener may need them sooner.
    let batch: ResumptionBatch?
    /// The root queue of the batch.
    let rootQueue: DispatchQueue
    private let mailbox: EventMailbox

    init(
        queue: DispatchQueue, listeners: [EventListener], batch: ResumptionBatch?,
        of rootQueue: DispatchQueue,
        mailbox: EventMailbox
    ) {
        self.queue = queue
        self.listeners = listeners
        self.batch = batch
        self.rootQueue = rootQueue
        self.mailbox = mailbox
    }

    /// Returns one route per queue, to the wanted listeners. Queues are compared by their mailboxes, because several objects may
    /// represent one queue.
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
                let mayWait = listeners.allSatisfy(\.hearsNotedEventsOnly)
                return EventRoute(
                    queue: first.queue, listeners: listeners,
                    batch: mayWait ? ResumptionBatch.batch(of: rootQueue) : nil, of: rootQueue,
                    mailbox: mailbox)
            }
        }
    }

    /// Delivers an event to the listeners on their queue, after the events sent to that queue before. Any thread.
    func send(_ event: consuming MonitorEvent) {
        mailbox.add(event, along: self)
    }
}
