// SPDX-License-Identifier: MIT

/// Names one of the entries of an address.
protocol PartyKey: Hashable, Sendable {
    associatedtype Address: Hashable & Sendable

    var address: Address { get }
    /// Whether it is the entry of the plain party, which most addresses have alone.
    var isPlain: Bool { get }
}

/// A recency list in which all the entries of one address are found without a search.
struct PartyList<Key: PartyKey, Value: Sendable>: Sendable {
    private var list = RecencyList<Key, Value>()
    /// The keys that are not plain.
    private var others: [Key.Address: Set<Key>] = [:]

    /// No values.
    init() {}

    /// What all values cost together.
    var cost: Int { list.cost }

    /// How many values there are.
    var count: Int { list.count }

    /// All keys, the one whose value has not been used for the longest time first.
    var keysFromLeastRecent: [Key] { list.keysFromLeastRecent }

    /// The value under a key; asking is no use.
    subscript(key: Key) -> Value? { list[key] }

    /// The keys of an address that are not plain.
    func others(of address: Key.Address) -> Set<Key> { others.isEmpty ? [] : others[address] ?? [] }

    /// The value under a key, which becomes the one used last.
    mutating func use(_ key: Key) -> Value? { list.use(key) }

    /// Puts a value under a key as the one used last, and gives back what was there.
    @discardableResult
    mutating func insert(_ value: Value, for key: Key, cost: Int) -> Value? {
        if !key.isPlain { others[key.address, default: []].insert(key) }
        return list.insert(value, for: key, cost: cost)
    }

    /// Puts a value in place of the one under a key, which keeps its turn.
    mutating func replace(_ value: Value, for key: Key, cost: Int) {
        list.replace(value, for: key, cost: cost)
    }

    /// Takes out what is under a key.
    @discardableResult
    mutating func remove(_ key: Key) -> Value? {
        forget(key)
        return list.remove(key)
    }

    /// Takes out the value that has not been used for the longest time.
    mutating func removeLeastRecent() -> (key: Key, value: Value)? {
        guard let oldest = list.removeLeastRecent() else { return nil }
        forget(oldest.key)
        return oldest
    }

    /// Takes out everything.
    mutating func removeAll() { self = PartyList() }

    private mutating func forget(_ key: Key) {
        guard !key.isPlain, !others.isEmpty else { return }
        others[key.address]?.remove(key)
        if others[key.address]?.isEmpty == true { others[key.address] = nil }
    }
}
