// SPDX-License-Identifier: MIT

/// A hash table from precomputed hashes to numbers, with open addressing and linear probing.
///
/// Each hash has a preferred slot, given by its lowest bits. If another hash occupies that slot, the next free one is used.
/// An attacker who chooses the hashed strings can make many hashes prefer one slot. A look-up then visits as many slots as there
/// are numbers. The owner limits the count of numbers: the table of an encoder, with 4,096 octets, has at most 128 entries.
struct NumbersByHash: Sendable {
    private struct Slot: Sendable {
        var hash: UInt64
        /// The number of the hash; `unused` if the slot is free.
        var number: Int
    }

    /// Marks a free slot. No caller stores this number.
    private static let unused = Int.min

    /// The number of slots is a power of two. At most half of them are in use, so that each search ends.
    private var slots = [Slot](repeating: Slot(hash: 0, number: unused), count: 32)
    /// The number of slots in use.
    private(set) var count = 0

    /// The hashes that have a number, in no particular order.
    var hashes: [UInt64] { slots.filter { $0.number != Self.unused }.map(\.hash) }

    /// The number of a hash; nil if there is none.
    @inline(__always)
    subscript(_ hash: UInt64) -> Int? {
        let slot = slots[slotIndex(of: hash)]
        return slot.number == Self.unused ? nil : slot.number
    }

    /// Stores the number of a hash, in place of an earlier one.
    mutating func set(_ number: Int, for hash: UInt64) {
        let index = slotIndex(of: hash)
        if slots[index].number == Self.unused { count &+= 1 }
        slots[index] = Slot(hash: hash, number: number)
        if count &* 2 > slots.count { grow() }
    }

    /// Removes and returns the number of a hash; nil if there is none.
    @discardableResult
    mutating func remove(_ hash: UInt64) -> Int? {
        var hole = slotIndex(of: hash)
        let removedNumber = slots[hole].number
        guard removedNumber != Self.unused else { return nil }
        count &-= 1
        // A search ends at the first free slot. The slots after the hole that are in use therefore fill it, where their hashes
        // allow; otherwise a search for one of these hashes would end at the hole.
        var next = hole
        while true {
            next = (next &+ 1) & mask
            guard slots[next].number != Self.unused else { break }
            let preferred = Int(truncatingIfNeeded: slots[next].hash) & mask
            let distanceFromPreferred = (next &- preferred) & mask
            let distanceFromHole = (next &- hole) & mask
            // A slot moves only if the hole lies on the path from its preferred position to its current one.
            guard distanceFromPreferred >= distanceFromHole else { continue }
            slots[hole] = slots[next]
            hole = next
        }
        slots[hole].number = Self.unused
        return removedNumber
    }

    /// Reduces a hash or a position to a valid position in `slots`.
    private var mask: Int { slots.count &- 1 }

    /// Returns the position in `slots` of a hash, or of the free slot in which it would be stored.
    @inline(__always)
    private func slotIndex(of hash: UInt64) -> Int {
        // Computed once: the number of slots does not change during the search.
        let mask = mask
        var index = Int(truncatingIfNeeded: hash) & mask
        while slots[index].number != Self.unused, slots[index].hash != hash { index = (index &+ 1) & mask }
        return index
    }

    /// Doubles the number of slots, and stores each hash anew.
    private mutating func grow() {
        let oldSlots = slots
        slots = [Slot](repeating: Slot(hash: 0, number: Self.unused), count: oldSlots.count &* 2)
        for slot in oldSlots where slot.number != Self.unused { slots[slotIndex(of: slot.hash)] = slot }
    }
}
