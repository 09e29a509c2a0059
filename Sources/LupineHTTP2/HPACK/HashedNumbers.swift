// SPDX-License-Identifier: MIT

/// A hash table from precomputed hashes to numbers, with open addressing and linear probing.
///
/// An attacker who chooses the hashed strings can make many hashes collide. A look-up then takes as many steps as there are
/// numbers, which the owner limits: to 128 in the table of an encoder, with its 4,096 octets.
struct HashedNumbers: Sendable {
    private struct Slot: Sendable {
        var hash: UInt64
        /// `free` if the slot is empty.
        var number: Int
    }

    private static let free = Int.min

    /// The number of slots is a power of two. At most half of them are in use, so that each search ends.
    private var slots = [Slot](repeating: Slot(hash: 0, number: free), count: 32)
    /// The number of slots in use.
    private(set) var count = 0

    /// The hashes that have a number, in no particular order.
    var hashes: [UInt64] { slots.filter { $0.number != Self.free }.map(\.hash) }

    @inline(__always)
    subscript(_ hash: UInt64) -> Int? {
        let slot = slots[slotIndex(of: hash)]
        return slot.number == Self.free ? nil : slot.number
    }

    /// Stores the number of a hash, in place of an earlier one.
    mutating func set(_ hash: UInt64, _ number: Int) {
        let index = slotIndex(of: hash)
        if slots[index].number == Self.free { count &+= 1 }
        slots[index] = Slot(hash: hash, number: number)
        if count &* 2 > slots.count { grow() }
    }

    /// Removes and returns the number of a hash; nil if there is none.
    @discardableResult
    mutating func remove(_ hash: UInt64) -> Int? {
        var hole = slotIndex(of: hash)
        let removed = slots[hole].number
        guard removed != Self.free else { return nil }
        count &-= 1
        // Entries that a collision put after this slot move up; otherwise a search would stop at the hole before them.
        var next = hole
        while true {
            next = (next &+ 1) & mask
            guard slots[next].number != Self.free else { break }
            let preferred = Int(truncatingIfNeeded: slots[next].hash) & mask
            // Move the entry only if the hole lies on the path from its preferred slot to its current one.
            guard (next &- preferred) & mask >= (next &- hole) & mask else { continue }
            slots[hole] = slots[next]
            hole = next
        }
        slots[hole].number = Self.free
        return removed
    }

    private var mask: Int { slots.count &- 1 }

    /// Returns the slot of a hash, or the free slot in which it would be stored.
    @inline(__always)
    private func slotIndex(of hash: UInt64) -> Int {
        let mask = mask
        var index = Int(truncatingIfNeeded: hash) & mask
        while slots[index].number != Self.free, slots[index].hash != hash { index = (index &+ 1) & mask }
        return index
    }

    private mutating func grow() {
        let old = slots
        slots = [Slot](repeating: Slot(hash: 0, number: Self.free), count: old.count &* 2)
        for slot in old where slot.number != Self.free { slots[slotIndex(of: slot.hash)] = slot }
    }
}
