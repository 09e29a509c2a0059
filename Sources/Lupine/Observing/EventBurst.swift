// SPDX-License-Identifier: MIT

import Dispatch

/// Turns of mailboxes that wait until a root queue is through with what it has before it.
///
/// Notifications are posted on the main queue, whose thread mostly sleeps: woken for each of them it costs more than a
/// request. So the first that waits puts one block behind all that the root queue has to do, and what comes until then goes
/// the same way. What is about to be put on a queue of the program's has the turn of that queue's mailbox put there before
/// it: a notification is never overtaken. Found from the blocks of the root queue, and of those that target it.
final class EventBurst: Sendable {
    private static let key = DispatchSpecificKey<EventBurst>()

    private struct Turn {
        let mailbox: EventMailbox
        let queue: DispatchQueue
    }

    private let waiting = Protected([Turn]())

    /// Has what waits on that queue's behalf wait in a burst.
    static func begin(on rootQueue: DispatchQueue) {
        if rootQueue.getSpecific(key: key) == nil { rootQueue.setSpecific(key: key, value: EventBurst()) }
    }

    /// That of the root queue that the caller is on.
    static var current: EventBurst? { DispatchQueue.getSpecific(key: key) }

    /// Has the mailbox take its turn when `rootQueue`, on which the caller is, has come to the end of what it has now.
    func add(_ mailbox: EventMailbox, for queue: DispatchQueue, behind rootQueue: DispatchQueue) {
        let isFirst = waiting.write { waiting in
            if waiting.contains(where: { $0.mailbox === mailbox }) { return false }
            waiting.append(Turn(mailbox: mailbox, queue: queue))
            return waiting.count == 1
        }
        if isFirst { rootQueue.async { self.end() } }
    }

    private func end() {
        let turns = waiting.write { waiting in
            defer { waiting.removeAll(keepingCapacity: true) }
            return waiting
        }
        for turn in turns { turn.mailbox.putTurn(on: turn.queue) }
    }

    /// Takes the mailbox out; false if it does not wait here.
    fileprivate func take(_ mailbox: EventMailbox) -> Bool {
        waiting.write { waiting in
            guard let place = waiting.firstIndex(where: { $0.mailbox === mailbox }) else { return false }
            waiting.remove(at: place)
            return true
        }
    }
}

extension DispatchQueue {
    /// Puts a handler of the program's on the queue, behind all events that are to be told there.
    func deliver(_ handler: @escaping @Sendable () -> Void) {
        if let burst = EventBurst.current, let mailbox = EventMailbox.existing(of: self), burst.take(mailbox)
        {
            mailbox.putTurn(on: self)
        }
        async(execute: handler)
    }
}
