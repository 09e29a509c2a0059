// SPDX-License-Identifier: MIT

/// Work that waits for a thread, in order, until it is taken or withdrawn.
struct WorkQueue {
    /// Names one piece of work.
    typealias Ticket = UInt64
    typealias Work = @Sendable () -> Void

    private var waiting: [Ticket: Work] = [:]
    /// Tickets in order; those withdrawn are no longer in `waiting`.
    private var order: [Ticket] = []
    private var head = 0

    /// How much waits.
    var count: Int { waiting.count }

    /// Whether the work of this ticket waits.
    func contains(_ ticket: Ticket) -> Bool { waiting[ticket] != nil }

    /// Adds work behind all other.
    mutating func append(_ ticket: Ticket, _ work: @escaping Work) {
        waiting[ticket] = work
        order.append(ticket)
    }

    /// Takes out what has waited longest.
    mutating func next() -> (ticket: Ticket, work: Work)? {
        while head < order.count {
            let ticket = order[head]
            head += 1
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

    /// Takes out the work of one ticket. What it holds is the caller's to let go, outside of locks.
    mutating func remove(_ ticket: Ticket) -> Work? { waiting.removeValue(forKey: ticket) }
}
