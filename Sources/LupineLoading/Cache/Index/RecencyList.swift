// SPDX-License-Identifier: MIT

/// Values by key, in order of last use, each with a cost: a size-bounded cache evicts from the front. Every operation but
/// `keysFromLeastRecent` takes constant time.
///
/// A value type without a lock, a limit or a clock; the owner decides when to evict.
struct RecencyList<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// The cost of a place and its neighbours in the order of use.
    private struct Link: Sendable {
        var cost = 0
        /// The place whose value was used before this one.
        var older: Int?
        /// The place whose value was used after this one.
        var newer: Int?
    }

    /// By place; nil while the place is free. Separate from `links`, so that using one value does not touch others.
    private var keys: [Key?] = []
    private var values: [Value?] = []
    private var links: [Link] = []
    private var freePlaces: [Int] = []
    private var places: [Key: Int] = [:]
    private var oldest: Int?
    private var newest: Int?

    /// The total cost of all values, wide enough for any sum: a cost may be the length of a file that anybody has made.
    private var sum: Int128 = 0
    /// The total cost of all values, clamped to the range of `Int`.
    var cost: Int { Int(clamping: sum) }

    /// Creates an empty list.
    init() {}

    /// The number of values.
    var count: Int { places.count }

    /// The value under a key; does not count as a use.
    subscript(key: Key) -> Value? { places[key].flatMap { values[$0] } }

    /// Returns the value under a key and makes it the most recently used.
    mutating func use(_ key: Key) -> Value? {
        guard let place = places[key] else { return nil }
        if newest != place {
            unlink(place)
            link(place)
        }
        return values[place]
    }

    /// Inserts a value as the most recently used, and returns the value that it replaces.
    @discardableResult
    mutating func insert(_ value: Value, for key: Key, cost: Int) -> Value? {
        let place = takePlace()
        // One look-up both stores the new place and returns a former one.
        let former = places.updateValue(place, forKey: key)
        keys[place] = key
        values[place] = value
        links[place].cost = cost
        sum += Int128(cost)
        link(place)
        return former.flatMap { vacate($0) }
    }

    /// Replaces the value under a key without changing its recency. Does nothing if there is none.
    mutating func replace(_ value: Value, for key: Key, cost: Int) {
        guard let place = places[key] else { return }
        sum += Int128(cost) - Int128(links[place].cost)
        values[place] = value
        links[place].cost = cost
    }

    /// Removes and returns the value under a key.
    @discardableResult
    mutating func remove(_ key: Key) -> Value? { places.removeValue(forKey: key).flatMap { vacate($0) } }

    /// Removes and returns the least recently used value.
    mutating func removeLeastRecent() -> (key: Key, value: Value)? {
        guard let place = oldest, let key = keys[place], let value = remove(key) else { return nil }
        return (key, value)
    }

    /// Removes all values.
    mutating func removeAll() { self = RecencyList() }

    /// All keys, the least recently used first.
    var keysFromLeastRecent: [Key] {
        var sorted: [Key] = []
        var place = oldest
        while let current = place, let key = keys[current] {
            sorted.append(key)
            place = links[current].newer
        }
        return sorted
    }

    private mutating func takePlace() -> Int {
        if let free = freePlaces.popLast() { return free }
        keys.append(nil)
        values.append(nil)
        links.append(Link())
        return links.count - 1
    }

    /// Frees a place that no key refers to any more, and returns its value.
    private mutating func vacate(_ place: Int) -> Value? {
        unlink(place)
        sum -= Int128(links[place].cost)
        keys[place] = nil
        freePlaces.append(place)
        return values[place].take()
    }

    private mutating func link(_ place: Int) {
        links[place].older = newest
        links[place].newer = nil
        if let newest { links[newest].newer = place } else { oldest = place }
        newest = place
    }

    private mutating func unlink(_ place: Int) {
        let (older, newer) = (links[place].older, links[place].newer)
        if let older { links[older].newer = newer } else { oldest = newer }
        if let newer { links[newer].older = older } else { newest = older }
    }
}
