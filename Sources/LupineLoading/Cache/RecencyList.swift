// SPDX-License-Identifier: MIT

/// Values by key, in the order of their last use, each with what it costs: what a size-bounded cache throws out comes from
/// the front. Every call but `keysFromLeastRecent` takes the same time however many values there are.
///
/// A value type without a lock, a limit or a clock; whoever holds one decides when something has to go.
struct RecencyList<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Node: Sendable {
        var key: Key
        var value: Value
        var cost: Int
        /// The place of the node that was used before this one.
        var older: Int?
        /// The place of the node that was used after it.
        var newer: Int?
    }

    /// A place is nil while it is free.
    private var nodes: [Node?] = []
    private var freePlaces: [Int] = []
    private var places: [Key: Int] = [:]
    private var oldest: Int?
    private var newest: Int?

    /// What all values cost together, wide enough for any sum: a cost may be the length of a file that anybody has made.
    private var sum: Int128 = 0
    /// The same, or the largest number where it is more than that.
    var cost: Int { Int(clamping: sum) }

    /// No values.
    init() {}

    /// How many values there are.
    var count: Int { places.count }

    /// The value under a key; asking is no use.
    subscript(key: Key) -> Value? { places[key].flatMap { nodes[$0]?.value } }

    /// The value under a key, which becomes the one used last.
    mutating func use(_ key: Key) -> Value? {
        guard let place = places[key] else { return nil }
        if newest != place {
            unlink(place)
            link(place)
        }
        return nodes[place]?.value
    }

    /// Puts a value under a key, in place of what was there, as the one used last.
    mutating func insert(_ value: Value, for key: Key, cost: Int) {
        remove(key)
        let node = Node(key: key, value: value, cost: cost)
        let place: Int
        if let free = freePlaces.popLast() {
            place = free
            nodes[place] = node
        } else {
            place = nodes.count
            nodes.append(node)
        }
        places[key] = place
        sum += Int128(cost)
        link(place)
    }

    /// Puts a value in place of the one under a key, which keeps its turn. Does nothing when there is none.
    mutating func replace(_ value: Value, for key: Key, cost: Int) {
        guard let place = places[key], let old = nodes[place] else { return }
        sum += Int128(cost) - Int128(old.cost)
        nodes[place]?.value = value
        nodes[place]?.cost = cost
    }

    /// Takes out what is under a key.
    @discardableResult
    mutating func remove(_ key: Key) -> Value? {
        guard let place = places.removeValue(forKey: key) else { return nil }
        unlink(place)
        let node = nodes[place]
        nodes[place] = nil
        freePlaces.append(place)
        sum -= Int128(node?.cost ?? 0)
        return node?.value
    }

    /// Takes out the value that has not been used for the longest time.
    mutating func removeLeastRecent() -> (key: Key, value: Value)? {
        guard let place = oldest, let key = nodes[place]?.key, let value = remove(key) else { return nil }
        return (key, value)
    }

    /// Takes out everything.
    mutating func removeAll() { self = RecencyList() }

    /// All keys, the one whose value has not been used for the longest time first.
    var keysFromLeastRecent: [Key] {
        var keys: [Key] = []
        var place = oldest
        while let current = place, let node = nodes[current] {
            keys.append(node.key)
            place = node.newer
        }
        return keys
    }

    private mutating func link(_ place: Int) {
        nodes[place]?.older = newest
        nodes[place]?.newer = nil
        if let newest { nodes[newest]?.newer = place } else { oldest = place }
        newest = place
    }

    private mutating func unlink(_ place: Int) {
        guard let node = nodes[place] else { return }
        if let older = node.older { nodes[older]?.newer = node.newer } else { oldest = node.newer }
        if let newer = node.newer { nodes[newer]?.older = node.older } else { newest = node.older }
    }
}
