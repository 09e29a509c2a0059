// SPDX-License-Identifier: MIT

/// Identifies an exchange to the pool. The submitter chooses the number, which has no meaning to the pool.
package struct ExchangeID: Hashable, Sendable {
    /// The number that the submitter chose.
    package let rawValue: UInt64
    /// Creates the ID from its number.
    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// Identifies an exchange while it waits in a pool. An ID is never reused for another waiter, so that a late cancellation has no
/// effect.
package struct WaiterID: Hashable, Sendable {
    fileprivate let index: Int32
    fileprivate let generation: UInt32
}

/// The exchanges of one key that wait for a connection, sorted by rank, and among equals by arrival.
///
/// There are two subqueues. Exchanges that need a fresh connection, which has carried no exchange, wait in `fresh`; only new
/// connections serve them. All others wait in `any`. A key is an origin; the pool's `WaiterSlab` stores the waiters of all keys.
struct WaitQueue {
    enum Subqueue { case any, fresh }

    /// The order of waiters: the higher priority first, and among equals the one that has been sent again more often.
    struct Rank: Hashable {
        var priority: Float
        let replays: UInt8

        init(_ priority: Float, replays: Int) {
            self.priority = priority
            self.replays = UInt8(clamping: replays)
        }

        func precedes(_ other: Rank) -> Bool {
            priority == other.priority ? replays > other.replays : priority > other.priority
        }
    }

    fileprivate var any = LinkList()
    fileprivate var fresh = LinkList()

    var count: Int32 { any.count &+ fresh.count }
    var isEmpty: Bool { any.isEmpty && fresh.isEmpty }

    /// Returns the number of waiters in one subqueue.
    func count(in subqueue: Subqueue) -> Int32 {
        switch subqueue {
        case .any: any.count
        case .fresh: fresh.count
        }
    }
}

/// The waiters of all keys of a pool: an array whose vacant elements are reused, so that waiting needs no allocation once the
/// array has grown.
struct WaiterSlab {
    /// One waiter, or a vacant element.
    private struct Entry {
        var exchange = ExchangeID(rawValue: 0)
        /// The number of the waiter; waiters of all keys are numbered in order of arrival.
        var sequence: UInt64 = 0
        var rank = WaitQueue.Rank(0, replays: 0)
        /// The index of the waiter's key; `LinkTable.none` if the entry is vacant.
        var key = LinkTable.none
        /// The number of earlier waiters in this entry.
        var generation: UInt32 = 0
        var subqueue = WaitQueue.Subqueue.any
    }

    private var entries: [Entry] = []
    /// Links the entries in their subqueue, or in `vacant`.
    private var links = LinkTable()
    private var vacant = LinkList()
    /// The number of the newest waiter; waiters are numbered from 1 in order of arrival.
    private(set) var lastSequence: UInt64 = 0

    /// Whether a waiter is among the first `count` of its subqueue in `queue`, the queue of the key that `key(of:)` returns.
    func isAmongFirst(_ count: Int32, _ waiter: WaiterID, of queue: WaitQueue) -> Bool {
        var index =
            switch entries[Int(waiter.index)].subqueue {
            case .any: queue.any.first
            case .fresh: queue.fresh.first
            }
        var remainingChecks = count
        while remainingChecks > 0, index != LinkTable.none {
            if index == waiter.index { return true }
            index = links.next(after: index)
            remainingChecks -= 1
        }
        return false
    }

    /// The number of entries ever created, which is the largest number of concurrent waiters.
    var entryCount: Int { entries.count }

    /// Adds a waiter to a subqueue of `queue`, the queue of `key`: after all waiters of the same or a higher rank.
    mutating func enqueue(
        _ exchange: ExchangeID, key: Int32, subqueue: WaitQueue.Subqueue, _ rank: WaitQueue.Rank,
        into queue: inout WaitQueue
    ) -> WaiterID {
        let index: Int32
        if let free = links.popFirst(of: &vacant) {
            index = free
        } else {
            index = Int32(entries.count)
            entries.append(Entry())
            links.grow()
        }
        lastSequence &+= 1
        let generation = entries[Int(index)].generation
        entries[Int(index)] = Entry(
            exchange: exchange, sequence: lastSequence, rank: rank, key: key, generation: generation,
            subqueue: subqueue)
        insert(index, into: &queue)
        return WaiterID(index: index, generation: generation)
    }

    /// The priority of a waiter; nil once it has been served.
    func priority(of waiter: WaiterID) -> Float? {
        key(of: waiter) == nil ? nil : entries[Int(waiter.index)].rank.priority
    }

    /// Changes the priority of a waiter and moves it to its new position; among equals, the one that has waited longer stays
    /// ahead. `queue` is the queue of the key that `key(of:)` returns for the waiter.
    mutating func setPriority(_ priority: Float, of waiter: WaiterID, in queue: inout WaitQueue) {
        guard entries[Int(waiter.index)].rank.priority != priority else { return }
        unlink(waiter.index, from: &queue)
        entries[Int(waiter.index)].rank.priority = priority
        insert(waiter.index, into: &queue)
    }

    /// The key that a waiter waits for; nil once it has been served.
    func key(of waiter: WaiterID) -> Int32? {
        guard Int(waiter.index) < entries.count else { return nil }
        let entry = entries[Int(waiter.index)]
        return entry.generation == waiter.generation && entry.key != LinkTable.none ? entry.key : nil
    }

    /// Removes a waiter and returns its exchange. `queue` is the queue of the key that `key(of:)` returns for the waiter.
    mutating func remove(_ waiter: WaiterID, from queue: inout WaitQueue) -> ExchangeID {
        vacate(waiter.index, from: &queue)
    }

    /// Removes the first waiter of a subqueue and returns its exchange; nil if the subqueue is empty.
    mutating func popFirst(_ subqueue: WaitQueue.Subqueue, of queue: inout WaitQueue) -> ExchangeID? {
        let first =
            switch subqueue {
            case .any: queue.any.first
            case .fresh: queue.fresh.first
            }
        return first == LinkTable.none ? nil : vacate(first, from: &queue)
    }

    /// Removes the waiter that precedes all others in both subqueues, and returns its exchange; nil if both are empty.
    mutating func popForemost(of queue: inout WaitQueue) -> ExchangeID? {
        popFirst(isFreshForemost(in: queue) ? .fresh : .any, of: &queue)
    }

    /// Whether the first waiter in `fresh` precedes the first one in `any`.
    func isFreshForemost(in queue: WaitQueue) -> Bool {
        guard queue.fresh.first != LinkTable.none else { return false }
        return queue.any.first == LinkTable.none || precedes(queue.fresh.first, queue.any.first)
    }

    /// The number of the first waiter in a subqueue; the largest number if it is empty.
    func sequence(ofFirst subqueue: WaitQueue.Subqueue, of queue: WaitQueue) -> UInt64 {
        let first =
            switch subqueue {
            case .any: queue.any.first
            case .fresh: queue.fresh.first
            }
        return first == LinkTable.none ? .max : entries[Int(first)].sequence
    }

    /// Removes a waiter, makes its entry vacant and returns its exchange.
    private mutating func vacate(_ index: Int32, from queue: inout WaitQueue) -> ExchangeID {
        unlink(index, from: &queue)
        entries[Int(index)].key = LinkTable.none
        entries[Int(index)].generation &+= 1
        links.append(index, to: &vacant)
        return entries[Int(index)].exchange
    }

    private mutating func unlink(_ index: Int32, from queue: inout WaitQueue) {
        switch entries[Int(index)].subqueue {
        case .any: links.remove(index, from: &queue.any)
        case .fresh: links.remove(index, from: &queue.fresh)
        }
    }

    private mutating func insert(_ index: Int32, into queue: inout WaitQueue) {
        switch entries[Int(index)].subqueue {
        case .any: insert(index, into: &queue.any)
        case .fresh: insert(index, into: &queue.fresh)
        }
    }

    /// Inserts a waiter by its rank. Takes constant time if the waiter belongs at the end or the beginning; otherwise searches
    /// from the end.
    private mutating func insert(_ index: Int32, into subqueue: inout LinkList) {
        guard subqueue.first != LinkTable.none, precedes(index, subqueue.last) else {
            return links.append(index, to: &subqueue)
        }
        var next = subqueue.first
        if !precedes(index, next) {
            next = subqueue.last
            // The loop ends at the first waiter at the latest: the new waiter does not precede the first one.
            while precedes(index, links.previous(before: next)) { next = links.previous(before: next) }
        }
        links.insert(index, before: next, in: &subqueue)
    }

    /// Whether one waiter is served before another: by rank, then by order of arrival.
    private func precedes(_ leftIndex: Int32, _ rightIndex: Int32) -> Bool {
        let (left, right) = (entries[Int(leftIndex)], entries[Int(rightIndex)])
        return left.rank == right.rank ? left.sequence < right.sequence : left.rank.precedes(right.rank)
    }
}
