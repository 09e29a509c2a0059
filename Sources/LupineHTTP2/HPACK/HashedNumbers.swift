// SPDX-License-Identifier: MIT

/// Numbers by hashes that are hashes already: open addressing, and the next free slot for a slot that is taken.
///
/// Whoever chooses what is hashed can have many hashes want one slot. A look-up then takes as many steps as there are entries
/// in a table of an encoder: 128 for its 4,096 octets.
struct HashedNumbers: Sendable {
    private struct Slot: Sendable {
        var hash: UInt64
        /// `free` where the slot is not taken.
        var number: Int
    }

    private static let free = Int.min

    /// A power of two, at most half of them taken, so that each search ends.
    private var slots = [Slot](repeating: Slot(hash: 0, number: free), count: 32)
    private var count = 0

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

    mutating func remove(_ hash: UInt64) {
        var hole = place(of: hash)
        guard slots[hole].number != Self.free else { return }
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
