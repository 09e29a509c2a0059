// SPDX-License-Identifier: MIT

internal import Foundation

/// The contents of a cache's folder, in memory: the place and the terms of each entry, in order of last use.
///
/// A value without a lock or a file. It counts the live bytes of each segment, which tell the writer which segments to rewrite or
/// remove.
package struct CacheIndex: Sendable {
    /// An entry in the folder.
    package struct Item: Sendable {
        let place: EntryLocation
        /// When the entry was stored, or last updated.
        let storedTime: Date
        /// The conditions under which the entry answers a request.
        let terms: CacheTerms
    }

    private var items = PartyList<CacheKey, Item>()
    /// The number of live bytes in each segment.
    package private(set) var live: [UInt64: Int] = [:]
    /// The keys of the entries that were put into each segment; the entries may have been moved or removed since.
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
                // Of two entries at one place only the later exists.
                if let other = keys[item.place.start] { remove(other, at: item.place.start) }
                insert(item, for: key)
                keys[item.place.start] = key
            case .moved(let start, let place):
                guard let key = keys[start], let item = items[key], item.place.start == start else {
                    continue
                }
                if let other = keys[place.start], other != key { remove(other, at: place.start) }
                _ = move(key, from: item.place, to: place)
                keys[place.start] = key
            case .removed(let start): if let key = keys[start] { remove(key, at: start) }
            case .used(let start):
                if let key = keys[start], items[key]?.place.start == start { _ = items.use(key) }
            }
        }
        // Only now: an entry may have moved out of a segment that no longer exists.
        for (key, item) in keysFromLeastRecent.compactMap({ key in items[key].map { (key, $0) } })
        where item.place.end > lengths[item.place.segment] ?? 0 { remove(key) }
    }

    /// The number of bytes that all entries take in their segments.
    package var cost: Int { items.cost }

    /// The number of entries.
    package var count: Int { items.count }

    /// The entry under a key; does not count as a use.
    subscript(key: CacheKey) -> Item? { items[key] }

    /// The keys under which entries for this URL are stored outside of the default partition.
    func others(of address: String) -> Set<CacheKey> { items.others(of: address) }

    /// All keys, the least recently used first.
    var keysFromLeastRecent: [CacheKey] { items.keysFromLeastRecent }

    /// Returns the entry under a key and makes it the most recently used.
    mutating func use(_ key: CacheKey) -> Item? { items.use(key) }

    /// Inserts an entry under a key, replacing an existing one.
    mutating func insert(_ item: Item, for key: CacheKey) {
        if let old = items.insert(item, for: key, cost: item.place.length) { forget(old.place) }
        count(key, at: item.place)
    }

    /// Counts an entry among the live bytes and the members of its segment.
    private mutating func count(_ key: CacheKey, at place: EntryLocation) {
        live[place.segment, default: 0] += place.length
        members[place.segment, default: []].append(key)
    }

    /// Records the new place of an entry, whose recency does not change. Returns false if the entry is no longer at the old
    /// place.
    mutating func move(_ key: CacheKey, from place: EntryLocation, to other: EntryLocation) -> Bool {
        guard let item = items[key], item.place == place else { return false }
        forget(place)
        items.replace(
            Item(place: other, storedTime: item.storedTime, terms: item.terms), for: key, cost: other.length)
        count(key, at: other)
        return true
    }

    /// Removes and returns the entry under a key.
    @discardableResult
    mutating func remove(_ key: CacheKey) -> Item? {
        guard let item = items.remove(key) else { return nil }
        forget(item.place)
        return item
    }

    private mutating func remove(_ key: CacheKey, at start: EntryLocation.Start) {
        if items[key]?.place.start == start { remove(key) }
    }

    /// Removes and returns the least recently used entry.
    mutating func removeLeastRecent() -> Item? {
        guard let (_, item) = items.removeLeastRecent() else { return nil }
        forget(item.place)
        return item
    }

    private mutating func forget(_ place: EntryLocation) {
        let left = (live[place.segment] ?? place.length) - place.length
        live[place.segment] = left > 0 ? left : nil
        if left <= 0 { members[place.segment] = nil }
    }

    // MARK: segments

    /// Returns the entries in a segment.
    func entries(in segment: UInt64) -> [(key: CacheKey, item: Item)] {
        var seen: Set<CacheKey> = []
        return (members[segment] ?? []).compactMap { key in
            guard let item = items[key], item.place.segment == segment, seen.insert(key).inserted else {
                return nil
            }
            return (key, item)
        }
    }

    /// A log that recreates this index, in order of last use.
    package var changes: [CacheLog.Change] {
        items.keysFromLeastRecent.compactMap { key in items[key].map { .stored(key, $0) } }
    }
}
