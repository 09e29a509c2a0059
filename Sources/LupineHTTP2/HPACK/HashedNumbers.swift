// SPDX-License-Identifier: MIT

/// Numbers by hashes that are hashes already: open addressing, and the next free slot for a slot that is taken.
///
/// Whoever chooses what is hashed can have many hashes want one slot. A look-up then takes as many steps as there are numbers,
/// which their owner limits: to 128 in a table of an encoder, with its 4,096 octets.
struct HashedNumbers: Sendable {
    private struct Slot: Sendable {
        var hash: UInt64
        /// `free` where the slot is not taken.
        var number: Int
    }

    private static let free = Int.min

    /// A power of two, at most half of them taken, so that each search ends.
    private var slots = [Slot](repeating: Slot(hash: 0, number: free), count: 32)
    /// How many there are.
    private(set) var count = 0

    /// The hashes that have numbers, in any order.
    var hashes: [UInt64] { slots.filter { $0.number != Self.free }.map(\.hash) }

    @inline(__always)
    subscript(_ hash: UInt64) -> Int? {
        let slot = slots[place(of: hash)]
        return slot.number == Self.free ? nil : slot.number
    }

    mutating func set(_ hash: UInt64, _ number: Int) {
        let place = place(of: hash)
        if slots[place].number == Self.free { count &+= 1 }
        slots[place] = Slot(hash: hash, number: number)
        if count &* 2 > slots.count { grow() }
    }

    /// Takes a number away, and returns it; nil where there is none.
    @discardableResult
    mutating func remove(_ hash: UInt64) -> Int? {
        var hole = place(of: hash)
        let removed = slots[hole].number
        guard removed != Self.free else { return nil }
        count &-= 1
        // What was put behind the slot because it was taken moves up, or it would not be found any more.
        var next = hole
        while true {
            next = (next &+ 1) & mask
            guard slots[next].number != Self.free else { break }
            let wanted = Int(truncatingIfNeeded: slots[next].hash) & mask
            // The way from the wanted slot to the present one goes over the hole.
            guard (next &- wanted) & mask >= (next &- hole) & mask else { continue }
            slots[hole] = slots[next]
            hole = next
        }
        slots[hole].number = Self.free
        return removed
    }

    private var mask: Int { slots.count &- 1 }

    /// The slot of a hash, or the free one that it would get.
    @inline(__always)
    private func place(of hash: UInt64) -> Int {
        let mask = mask
        var place = Int(truncatingIfNeeded: hash) & mask
        while slots[place].number != Self.free, slots[place].hash != hash { place = (place &+ 1) & mask }
        return place
    }

    private mutating func grow() {
        let old = slots
        slots = [Slot](repeating: Slot(hash: 0, number: Self.free), count: old.count &* 2)
        for slot in old where slot.number != Self.free { slots[place(of: slot.hash)] = slot }
    }
}
