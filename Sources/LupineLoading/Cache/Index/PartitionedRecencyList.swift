// SPDX-License-Identifier: MIT

/// The key of a value in a `PartitionedRecencyList`: an address and a partition.
protocol PartitionedKey: Hashable, Sendable {
    associatedtype Address: Hashable & Sendable

    var address: Address { get }
    /// Whether the partition is the default one, which is the only one of most addresses.
    var isInDefaultPartition: Bool { get }
}

/// A `RecencyList` that can also return the keys of an address in all partitions, without a search.
struct PartitionedRecencyList<Key: PartitionedKey, Value: Sendable>: Sendable {
    private var list = RecencyList<Key, Value>()
    /// The keys outside of the default partition, by address.
    private var keysByAddress: [Key.Address: Set<Key>] = [:]

    /// Creates an empty list.
    init() {}

    /// The total cost of all values.
    var cost: Int { list.cost }

    /// The number of values.
    var count: Int { list.count }

    /// All keys, the least recently used first.
    var keysFromLeastRecent: [Key] { list.keysFromLeastRecent }

    /// The value under a key; does not count as a use.
    subscript(key: Key) -> Value? { list[key] }

    /// Returns the keys with this address outside of the default partition.
    func partitionedKeys(of address: Key.Address) -> Set<Key> {
        if keysByAddress.isEmpty { return [] }
        return keysByAddress[address] ?? []
    }

    /// Returns the value under a key and makes it the most recently used.
    mutating func use(_ key: Key) -> Value? { list.use(key) }

    /// Inserts a value as the most recently used, and returns the value that it replaces.
    @discardableResult
    mutating func insert(_ value: Value, for key: Key, cost: Int) -> Value? {
        if !key.isInDefaultPartition { keysByAddress[key.address, default: []].insert(key) }
        return list.insert(value, for: key, cost: cost)
    }

    /// Replaces the value under a key without changing its recency.
    mutating func replace(_ value: Value, for key: Key, cost: Int) {
        list.replace(value, for: key, cost: cost)
    }

    /// Removes and returns the value under a key.
    @discardableResult
    mutating func remove(_ key: Key) -> Value? {
        removeFromKeysByAddress(key)
        return list.remove(key)
    }

    /// Removes and returns the least recently used value.
    mutating func removeLeastRecent() -> (key: Key, value: Value)? {
        guard let oldest = list.removeLeastRecent() else { return nil }
        removeFromKeysByAddress(oldest.key)
        return oldest
    }

    /// Removes all values.
    mutating func removeAll() { self = PartitionedRecencyList() }

    /// Removes a key from `keysByAddress`, which contains only keys outside of the default partition.
    private mutating func removeFromKeysByAddress(_ key: Key) {
        // Does not search an empty dictionary, which saves hashing the key.
        guard !key.isInDefaultPartition, !keysByAddress.isEmpty else { return }
        keysByAddress[key.address]?.remove(key)
        if keysByAddress[key.address]?.isEmpty == true { keysByAddress[key.address] = nil }
    }
}
