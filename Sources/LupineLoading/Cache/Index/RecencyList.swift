// SPDX-License-Identifier: MIT

/// A dictionary that keeps its values in order of last use, and adds up their costs. All operations except `keysFromLeastRecent`
/// take constant time.
///
/// A value type without a lock, a limit or a clock: the owner decides when to remove the least recently used value. The order is
/// a doubly linked list of slots, which are indices of three arrays.
struct RecencyList<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// The cost of a slot's value, and the neighbours of the slot in the order of use.
    private struct Link: Sendable {
        var cost = 0
        /// The slot whose value was last used before this one.
        var older: Int?
        /// The slot whose value was last used after this one.
        var newer: Int?
    }

    /// The keys by slot; nil while the slot is free.
    private var keys: [Key?] = []
    /// The values by slot; nil while the slot is free. Separate from `links`, so that relinking a slot does not load the values
    /// of its neighbours.
    private var values: [Value?] = []
    /// The links by slot.
    private var links: [Link] = []
    private var freeSlots: [Int] = []
    /// The slots by key.
    private var slots: [Key: Int] = [:]
    /// The slot of the least recently used value.
    private var oldest: Int?
    /// The slot of the most recently used value.
    private var newest: Int?

    /// The total cost of all values. The type is wide enough for any sum, because costs may come from a forged file.
    private var sum: Int128 = 0
    /// The total cost of all values, clamped to the range of `Int`.
    var cost: Int { Int(clamping: sum) }

    /// Creates an empty list.
    init() {}

    /// The number of values.
    var count: Int { slots.count }

    /// The value under a key; does not count as a use.
    subscript(key: Key) -> Value? { slots[key].flatMap { values[$0] } }

    /// Returns the value under a key and makes it the most recently used.
    mutating func use(_ key: Key) -> Value? {
        guard let slot = slots[key] else { return nil }
        if newest != slot {
            unlink(slot)
            link(slot)
        }
        return values[slot]
    }

    /// Inserts a value as the most recently used, and returns the value that it replaces.
    @discardableResult
    mutating func insert(_ value: Value, for key: Key, cost: Int) -> Value? {
        // The new value gets a slot of its own even if it replaces another one, whose slot is released below.
        let slot = allocateSlot()
        // One look-up both stores the new slot and returns the previous one.
        let previous = slots.updateValue(slot, forKey: key)
        keys[slot] = key
        values[slot] = value
        links[slot].cost = cost
        sum += Int128(cost)
        link(slot)
        return previous.flatMap { releaseSlot($0) }
    }

    /// Replaces the value under a key without changing its recency. Does nothing if there is none.
    mutating func replace(_ value: Value, for key: Key, cost: Int) {
        guard let slot = slots[key] else { return }
        sum += Int128(cost) - Int128(links[slot].cost)
        values[slot] = value
        links[slot].cost = cost
    }

    /// Removes and returns the value under a key.
    @discardableResult
    mutating func remove(_ key: Key) -> Value? { slots.removeValue(forKey: key).flatMap { releaseSlot($0) } }

    /// Removes and returns the least recently used value.
    mutating func removeLeastRecent() -> (key: Key, value: Value)? {
        guard let slot = oldest, let key = keys[slot], let value = remove(key) else { return nil }
        return (key, value)
    }

    /// Removes all values.
    mutating func removeAll() { self = RecencyList() }

    /// All keys, the least recently used first.
    var keysFromLeastRecent: [Key] {
        var sorted: [Key] = []
        var slot = oldest
        while let current = slot, let key = keys[current] {
            sorted.append(key)
            slot = links[current].newer
        }
        return sorted
    }

    /// Returns a free slot, or appends a new one to the arrays and returns it.
    private mutating func allocateSlot() -> Int {
        if let free = freeSlots.popLast() { return free }
        keys.append(nil)
        values.append(nil)
        links.append(Link())
        return links.count - 1
    }

    /// Makes a slot free that was removed from `slots`, and returns its value.
    private mutating func releaseSlot(_ slot: Int) -> Value? {
        unlink(slot)
        sum -= Int128(links[slot].cost)
        keys[slot] = nil
        freeSlots.append(slot)
        return values[slot].take()
    }

    /// Makes a slot the most recently used one.
    private mutating func link(_ slot: Int) {
        links[slot].older = newest
        links[slot].newer = nil
        if let newest { links[newest].newer = slot } else { oldest = slot }
        newest = slot
    }

    /// Removes a slot from the order of use.
    private mutating func unlink(_ slot: Int) {
        let (older, newer) = (links[slot].older, links[slot].newer)
        if let older { links[older].newer = newer } else { oldest = newer }
        if let newer { links[newer].older = older } else { newest = older }
    }
}
