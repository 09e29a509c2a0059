// SPDX-License-Identifier: MIT

/// Closures that wait for a thread, first in, first out. Each can be withdrawn by its ticket.
struct WorkQueue {
    /// Identifies one submitted closure.
    typealias Ticket = UInt64
    /// A submitted closure.
    typealias Work = @Sendable () -> Void

    private var waiting: [Ticket: Work] = [:]
    /// The tickets in order of arrival, from `head` on. The ticket of withdrawn work stays here, but is not in `waiting`.
    private var order: [Ticket] = []
    /// The index of the first ticket in `order` that has not been removed.
    private var head = 0
    /// The number of removed tickets up to which `order` is not compacted.
    private static let minCompactedCount = 64

    /// The number of waiting closures.
    var count: Int { waiting.count }

    /// Returns whether the work of this ticket is waiting.
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
            // Compacts the array if more than half of it is unused. This moves fewer tickets than were removed since the last
            // time.
            if head > Self.minCompactedCount, head * 2 > order.count {
                order.removeFirst(head)
                head = 0
            }
            // Nil if the work has been withdrawn.
            if let work = waiting.removeValue(forKey: ticket) { return (ticket, work) }
        }
        order.removeAll(keepingCapacity: true)
        head = 0
        return nil
    }

    /// Removes and returns the work of one ticket; nil if it is not waiting. The caller releases the work outside of locks.
    mutating func remove(_ ticket: Ticket) -> Work? { waiting.removeValue(forKey: ticket) }
}
