// SPDX-License-Identifier: MIT

/// Work that waits for a thread, first in, first out. Any piece can be withdrawn.
struct WorkQueue {
    /// Identifies one piece of work.
    typealias Ticket = UInt64
    typealias Work = @Sendable () -> Void

    private var waiting: [Ticket: Work] = [:]
    /// The tickets in order of arrival, from `head` on. Those of withdrawn work are no longer in `waiting`.
    private var order: [Ticket] = []
    /// The index of the first ticket in `order` that has not been removed.
    private var head = 0

    /// The number of waiting pieces of work.
    var count: Int { waiting.count }

    /// Whether the work of this ticket is waiting.
    func contains(_ ticket: Ticket) -> Bool { waiting[ticket] != nil }

    /// Appends work.
    mutating func append(_ ticket: Ticket, _ work: @escaping Work) {
        waiting[ticket] = work
        order.append(ticket)
    }

    /// Removes and returns the work that has waited longest.
    mutating func popFirst() -> (ticket: Ticket, work: Work)? {
        while head < order.count {
            let ticket = order[head]
            head += 1
            // Removes the used half: fewer tickets move than were taken since the last time.
            if head > 64, head * 2 > order.count {
                order.removeFirst(head)
                head = 0
            }
            if let work = waiting.removeValue(forKey: ticket) { return (ticket, work) }
        }
        order.removeAll(keepingCapacity: true)
        head = 0
        return nil
    }

    /// Removes the work of one ticket. The caller releases it outside of locks.
    mutating func remove(_ ticket: Ticket) -> Work? { waiting.removeValue(forKey: ticket) }
}
