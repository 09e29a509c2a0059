// SPDX-License-Identifier: MIT

/// Names one exchange towards the pool. The number means nothing to the pool; whoever submits chooses it.
package struct ExchangeID: Hashable, Sendable {
    /// The number that the submitter chose.
    package let rawValue: UInt64
    /// The exchange of that number.
    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// Names one place in a wait queue. Never reused for another waiter, so that a late cancellation meets nobody.
package struct WaiterID: Hashable, Sendable {
    fileprivate let index: Int32
    fileprivate let generation: UInt32
}

/// The exchanges that wait for a connection of one key, first come, first served, in two lanes.
///
/// A replayed exchange must not meet another stale connection, so it waits in a lane of its own that only new
/// connections serve. The places themselves lie in the one `WaiterSlab` of the pool.
struct WaitQueue {
    enum Lane { case any, fresh }

    fileprivate var any = LinkList()
    fileprivate var fresh = LinkList()

    var count: Int32 { any.count &+ fresh.count }
    var isEmpty: Bool { any.isEmpty && fresh.isEmpty }

    /// How many wait in one lane.
    func count(in lane: Lane) -> Int32 {
        switch lane {
        case .any: any.count
        case .fresh: fresh.count
        }
    }
}

/// The places of every waiter of a pool: a slab with a free list, so that waiting allocates nothing once it is warm.
struct WaiterSlab {
    private struct Place {
        var exchange = ExchangeID(rawValue: 0)
        var sequence: UInt64 = 0
        var key = LinkTable.none
        var generation: UInt32 = 0
        var lane = WaitQueue.Lane.any
    }

    private var places: [Place] = []
    private var links = LinkTable()
    private var vacant = LinkList()
    /// The number of the waiter that came last; waiters are numbered from 1 in the order they came.
    private(set) var lastSequence: UInt64 = 0

    /// Places ever made: the largest number of waiters at one time.
    var placeCount: Int { places.count }

    /// Takes a place at the end of a lane of `queue`, the queue of `key`.
    mutating func enqueue(
        _ exchange: ExchangeID, key: Int32, lane: WaitQueue.Lane, into queue: inout WaitQueue
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
            exchange: exchange, sequence: lastSequence, key: key, generation: generation, lane: lane)
        switch lane {
        case .any: links.append(index, to: &queue.any)
        case .fresh: links.append(index, to: &queue.fresh)
        }
        return WaiterID(index: index, generation: generation)
    }

    /// The key that a waiter waits for, unless it has been answered.
    func key(of waiter: WaiterID) -> Int32? {
        guard Int(waiter.index) < places.count else { return nil }
        let place = places[Int(waiter.index)]
        return place.generation == waiter.generation && place.key != LinkTable.none ? place.key : nil
    }

    /// Frees the place of a waiter found by `key(of:)`; `queue` is that key's.
    mutating func remove(_ waiter: WaiterID, from queue: inout WaitQueue) -> ExchangeID {
        vacate(waiter.index, from: &queue)
    }

    /// Takes the first waiter of a lane.
    mutating func popFirst(_ lane: WaitQueue.Lane, of queue: inout WaitQueue) -> ExchangeID? {
        let first =
            switch lane {
            case .any: queue.any.first
            case .fresh: queue.fresh.first
            }
        return first == LinkTable.none ? nil : vacate(first, from: &queue)
    }

    /// Takes whoever has waited longest in either lane.
    mutating func popOldest(of queue: inout WaitQueue) -> ExchangeID? {
        let lane: WaitQueue.Lane =
            sequence(ofFirst: .fresh, of: queue) < sequence(ofFirst: .any, of: queue) ? .fresh : .any
        return popFirst(lane, of: &queue)
    }

    /// The number of the first waiter in a lane; of an empty lane, the largest number.
    func sequence(ofFirst lane: WaitQueue.Lane, of queue: WaitQueue) -> UInt64 {
        let first =
            switch lane {
            case .any: queue.any.first
            case .fresh: queue.fresh.first
            }
        return first == LinkTable.none ? .max : places[Int(first)].sequence
    }

    private mutating func vacate(_ index: Int32, from queue: inout WaitQueue) -> ExchangeID {
        let place = places[Int(index)]
        switch place.lane {
        case .any: links.remove(index, from: &queue.any)
        case .fresh: links.remove(index, from: &queue.fresh)
        }
        places[Int(index)].key = LinkTable.none
        places[Int(index)].generation &+= 1
        links.append(index, to: &vacant)
        return place.exchange
    }
}
