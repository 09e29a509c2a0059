// SPDX-License-Identifier: MIT

/// Values by key, in the order of their last use, each with what it costs: what a size-bounded cache throws out comes from
/// the front. Every call but `keysFromLeastRecent` takes the same time however many values there are.
///
/// A value type without a lock, a limit or a clock; whoever holds one decides when something has to go.
struct RecencyList<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// What a place has beside its key and its value.
    private struct Link: Sendable {
        var cost = 0
        /// The place whose value was used before this one.
        var older: Int?
        /// The place whose value was used after it.
        var newer: Int?
    }

    /// By place; nil while it is free. Apart from the links, so that values are not touched when others are used.
    private var keys: [Key?] = []
    private var values: [Value?] = []
    private var links: [Link] = []
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
    subscript(key: Key) -> Value? { places[key].flatMap { values[$0] } }

    /// The value under a key, which becomes the one used last.
    mutating func use(_ key: Key) -> Value? {
        guard let place = places[key] else { return nil }
        if newest != place {
            unlink(place)
            link(place)
        }
        return values[place]
    }

    /// Puts a value under a key as the one used last, and gives back what was there.
    @discardableResult
    mutating func insert(_ value: Value, for key: Key, cost: Int) -> Value? {
        let place = takePlace()
        // One look-up says both where the new one is and whether there was another.
        let former = places.updateValue(place, forKey: key)
        keys[place] = key
        values[place] = value
        links[place].cost = cost
        sum += Int128(cost)
        link(place)
        return former.flatMap { vacate($0) }
    }

    /// Puts a value in place of the one under a key, which keeps its turn. Does nothing when there is none.
    mutating func replace(_ value: Value, for key: Key, cost: Int) {
        guard let place = places[key] else { return }
        sum += Int128(cost) - Int128(links[place].cost)
        values[place] = value
        links[place].cost = cost
    }

    /// Takes out what is under a key.
    @discardableResult
    mutating func remove(_ key: Key) -> Value? { places.removeValue(forKey: key).flatMap { vacate($0) } }

    /// Takes out the value that has not been used for the longest time.
    mutating func removeLeastRecent() -> (key: Key, value: Value)? {
        guard let place = oldest, let key = keys[place], let value = remove(key) else { return nil }
        return (key, value)
    }

    /// Takes out everything.
    mutating func removeAll() { self = RecencyList() }

    /// All keys, the one whose value has not been used for the longest time first.
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

    /// Frees a place that no key leads to any more.
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
