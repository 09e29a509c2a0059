// SPDX-License-Identifier: MIT

/// Identifies an exchange to the pool. The submitter chooses the number, which has no meaning to the pool.
package struct ExchangeID: Hashable, Sendable {
    /// The number that the submitter chose.
    package let rawValue: UInt64
    /// Creates the ID from its number.
    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// Identifies a waiter of a pool. Never reused for another waiter, so that a late cancellation has no effect.
package struct WaiterID: Hashable, Sendable {
    fileprivate let index: Int32
    fileprivate let generation: UInt32
}

/// The exchanges of one key that wait for a connection, sorted by rank, and among equals by arrival.
///
/// There are two subqueues. Exchanges that must not be sent on a stale connection again wait in `fresh`, which only new
/// connections serve; all others wait in `any`. The pool's `WaiterSlab` stores the waiters of all keys.
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

/// The places of all waiters of a pool: a slab with a free list, so that waiting does not allocate once the slab has grown.
struct WaiterSlab {
    private struct Place {
        var exchange = ExchangeID(rawValue: 0)
        /// The number of the waiter in the order of arrival.
        var sequence: UInt64 = 0
        var rank = WaitQueue.Rank(0, replays: 0)
        /// `LinkTable.none` if the place is vacant.
        var key = LinkTable.none
        var generation: UInt32 = 0
        var subqueue = WaitQueue.Subqueue.any
    }

    private var places: [Place] = []
    private var links = LinkTable()
    private var vacant = LinkList()
    /// The number of the newest waiter; waiters are numbered from 1 in order of arrival.
    private(set) var lastSequence: UInt64 = 0

    /// Whether a waiter is among the first `count` of its subqueue in `queue`. The caller has found `queue` by `key(of:)`.
    func isAmongFirst(_ count: Int32, _ waiter: WaiterID, of queue: WaitQueue) -> Bool {
        var index =
            switch places[Int(waiter.index)].subqueue {
            case .any: queue.any.first
            case .fresh: queue.fresh.first
            }
        var stepsLeft = count
        while stepsLeft > 0, index != LinkTable.none {
            if index == waiter.index { return true }
            index = links.next(after: index)
            stepsLeft -= 1
        }
        return false
    }

    /// The number of places ever created, which is the largest number of concurrent waiters.
    var placeCount: Int { places.count }

    /// Adds a waiter to a subqueue of `queue`, the queue of `key`: after all waiters of the same or a higher rank.
    mutating func enqueue(
        _ exchange: ExchangeID, key: Int32, subqueue: WaitQueue.Subqueue, _ rank: WaitQueue.Rank,
        into queue: inout WaitQueue
    ) -> WaiterID {
        let index: Int32
        if let free = links.popFirst(of: &vacant) {
            index = free
        } else {
            index = Int32(places.count)
            places.append(Place())
            links.grow()
        }
        lastSequence &+= 1
        let generation = places[Int(index)].generation
        places[Int(index)] = Place(
            exchange: exchange, sequence: lastSequence, rank: rank, key: key, generation: generation,
            subqueue: subqueue)
        insert(index, into: &queue)
        return WaiterID(index: index, generation: generation)
    }

    /// The priority of a waiter; nil once it has been served.
    func priority(of waiter: WaiterID) -> Float? {
        key(of: waiter) == nil ? nil : places[Int(waiter.index)].rank.priority
    }

    /// Moves a waiter found by `key(of:)` to its position under a new priority; among equals the one that has waited longer
    /// stays ahead. `queue` is that key's.
    mutating func setPriority(_ priority: Float, of waiter: WaiterID, in queue: inout WaitQueue) {
        guard places[Int(waiter.index)].rank.priority != priority else { return }
        unlink(waiter.index, from: &queue)
        places[Int(waiter.index)].rank.priority = priority
        insert(waiter.index, into: &queue)
    }

    /// The key that a waiter waits for; nil once it has been served.
    func key(of waiter: WaiterID) -> Int32? {
        guard Int(waiter.index) < places.count else { return nil }
        let place = places[Int(waiter.index)]
        return place.generation == waiter.generation && place.key != LinkTable.none ? place.key : nil
    }

    /// Removes a waiter found by `key(of:)`, and returns its exchange; `queue` is that key's.
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

    /// Removes the waiter that is due first in either subqueue, and returns its exchange; nil if both are empty.
    mutating func popForemost(of queue: inout WaitQueue) -> ExchangeID? {
        popFirst(isFreshForemost(in: queue) ? .fresh : .any, of: &queue)
    }

    /// Whether the first waiter in `fresh` is due before the first one in `any`.
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
        return first == LinkTable.none ? .max : places[Int(first)].sequence
    }

    /// Removes a waiter, makes its place vacant and returns its exchange.
    private mutating func vacate(_ index: Int32, from queue: inout WaitQueue) -> ExchangeID {
        unlink(index, from: &queue)
        places[Int(index)].key = LinkTable.none
        places[Int(index)].generation &+= 1
        links.append(index, to: &vacant)
        return places[Int(index)].exchange
    }

    private mutating func unlink(_ index: Int32, from queue: inout WaitQueue) {
        switch places[Int(index)].subqueue {
        case .any: links.remove(index, from: &queue.any)
        case .fresh: links.remove(index, from: &queue.fresh)
        }
    }

    private mutating func insert(_ index: Int32, into queue: inout WaitQueue) {
        switch places[Int(index)].subqueue {
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
            while precedes(index, links.previous(before: next)) { next = links.previous(before: next) }
        }
        links.insert(index, before: next, in: &subqueue)
    }

    /// Whether one waiter is due before another: by rank, then by order of arrival.
    private func precedes(_ leftIndex: Int32, _ rightIndex: Int32) -> Bool {
        let (left, right) = (places[Int(leftIndex)], places[Int(rightIndex)])
        return left.rank == right.rank ? left.sequence < right.sequence : left.rank.precedes(right.rank)
    }
}
