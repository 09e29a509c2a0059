// SPDX-License-Identifier: MIT

internal import Foundation

/// The contents of a cache's folder, in memory: the location and the terms of each entry, in order of last use.
///
/// A value type that accesses no file. It counts the live bytes of each segment, from which the writer decides which segments to
/// rewrite or remove.
package struct CacheIndex: Sendable {
    /// An entry in the folder.
    package struct Item: Sendable {
        let location: EntryLocation
        /// When the entry was stored, or last updated.
        let storedTime: Date
        /// The conditions under which the entry answers a request.
        let terms: CacheTerms
    }

    private var items = PartyList<CacheKey, Item>()
    /// The number of live bytes in each segment: those of existing entries.
    package private(set) var live: [UInt64: Int] = [:]
    /// The keys of the entries that were written to each segment. Some may have been moved or removed since.
    private var members: [UInt64: [CacheKey]] = [:]

    /// Creates an empty index.
    init() {}

    /// Creates the index that a log describes, without entries whose segments are missing or too short.
    ///
    /// - Parameters:
    ///   - changes: The changes of the log, the oldest first.
    ///   - lengths: The length of each segment.
    package init(_ changes: [CacheLog.Change], lengths: [UInt64: Int]) {
        var keys: [EntryLocation.Start: CacheKey] = [:]
        for change in changes {
            switch change {
            case .stored(let key, let item):
                remove(key)
                // Of two entries at the same location only the later one exists.
                if let replaced = keys[item.location.start] { remove(replaced, at: item.location.start) }
                insert(item, for: key)
                keys[item.location.start] = key
            case .moved(let start, let location):
                guard let key = keys[start], let item = items[key], item.location.start == start else {
                    continue
                }
                if let replaced = keys[location.start], replaced != key {
                    remove(replaced, at: location.start)
                }
                _ = move(key, from: item.location, to: location)
                keys[location.start] = key
            case .removed(let start): if let key = keys[start] { remove(key, at: start) }
            case .used(let start):
                if let key = keys[start], items[key]?.location.start == start { _ = items.use(key) }
            }
        }
        // Checks the segments last, because an entry may have been moved from a segment that does not exist any more.
        for (key, item) in keysFromLeastRecent.compactMap({ key in items[key].map { (key, $0) } })
        where item.location.end > lengths[item.location.segment] ?? 0 { remove(key) }
    }

    /// The number of bytes that all entries take in their segments.
    package var cost: Int { items.cost }

    /// The number of entries.
    package var count: Int { items.count }

    /// The entry under a key; does not count as a use.
    subscript(key: CacheKey) -> Item? { items[key] }

    /// Returns the keys of the entries for an address outside of the default partition.
    func partitionedKeys(of address: String) -> Set<CacheKey> { items.partitionedKeys(of: address) }

    /// All keys, the least recently used first.
    var keysFromLeastRecent: [CacheKey] { items.keysFromLeastRecent }

    /// Returns the entry under a key and makes it the most recently used.
    mutating func use(_ key: CacheKey) -> Item? { items.use(key) }

    /// Inserts an entry under a key, replacing an existing one.
    mutating func insert(_ item: Item, for key: CacheKey) {
        if let old = items.insert(item, for: key, cost: item.location.length) { forget(old.location) }
        countBytes(of: key, at: item.location)
    }

    /// Adds an entry to the live bytes and the members of its segment.
    private mutating func countBytes(of key: CacheKey, at location: EntryLocation) {
        live[location.segment, default: 0] += location.length
        members[location.segment, default: []].append(key)
    }

    /// Records the new location of an entry, whose recency does not change. Returns false if the entry is no longer at the old
    /// location.
    mutating func move(_ key: CacheKey, from location: EntryLocation, to newLocation: EntryLocation) -> Bool {
        guard let item = items[key], item.location == location else { return false }
        forget(location)
        let moved = Item(location: newLocation, storedTime: item.storedTime, terms: item.terms)
        items.replace(moved, for: key, cost: newLocation.length)
        countBytes(of: key, at: newLocation)
        return true
    }

    /// Removes and returns the entry under a key.
    @discardableResult
    mutating func remove(_ key: CacheKey) -> Item? {
        guard let item = items.remove(key) else { return nil }
        forget(item.location)
        return item
    }

    /// Removes the entry under a key if it is at this location.
    private mutating func remove(_ key: CacheKey, at start: EntryLocation.Start) {
        if items[key]?.location.start == start { remove(key) }
    }

    /// Removes and returns the least recently used entry.
    mutating func removeLeastRecent() -> Item? {
        guard let (_, item) = items.removeLeastRecent() else { return nil }
        forget(item.location)
        return item
    }

    /// Subtracts an entry from the live bytes of its segment. Its key stays in `members` until the segment has no live bytes.
    private mutating func forget(_ location: EntryLocation) {
        let remaining = (live[location.segment] ?? location.length) - location.length
        live[location.segment] = remaining > 0 ? remaining : nil
        if remaining <= 0 { members[location.segment] = nil }
    }

    // MARK: segments

    /// Returns the entries in a segment.
    func entries(in segment: UInt64) -> [(key: CacheKey, item: Item)] {
        // `members` may have a key twice, if the entry was written to the segment again.
        var seen: Set<CacheKey> = []
        return (members[segment] ?? []).compactMap { key in
            guard let item = items[key], item.location.segment == segment, seen.insert(key).inserted else {
                return nil
            }
            return (key, item)
        }
    }

    /// The changes from which this index can be created, in order of last use.
    package var changes: [CacheLog.Change] {
        items.keysFromLeastRecent.compactMap { key in items[key].map { .stored(key, $0) } }
    }
}
