// SPDX-License-Identifier: MIT

internal import Foundation

/// A description, in memory, of the entries in a cache's folder: the location and the terms of each entry, in order of last use.
///
/// A value type that accesses no file. A segment is a file of the folder with several entries. The index counts the live bytes of
/// each segment, which are those of entries that still exist. From them the writer decides which segments to rewrite or remove.
package struct CacheIndex: Sendable {
    /// The description of one entry in the folder.
    package struct Record: Sendable {
        let location: EntryLocation
        /// When the entry was stored, or last updated.
        let storedTime: Date
        /// The conditions under which the entry answers a request.
        let terms: CacheTerms
    }

    private var records = PartitionedRecencyList<CacheKey, Record>()
    /// The number of live bytes in each segment, by the number of the segment. Segments without live bytes are not included.
    package private(set) var liveBytes: [UInt64: Int] = [:]
    /// The keys of the entries that were written to each segment, by the number of the segment. Some entries may have been moved
    /// or removed since.
    private var keysBySegment: [UInt64: [CacheKey]] = [:]

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
            case .stored(let key, let record):
                remove(key)
                // Of two entries at the same location only the later one exists.
                if let replaced = keys[record.location.start] { remove(replaced, at: record.location.start) }
                insert(record, for: key)
                keys[record.location.start] = key
            case .moved(let start, let location):
                guard let key = keys[start], let record = records[key], record.location.start == start else {
                    continue
                }
                if let replaced = keys[location.start], replaced != key {
                    remove(replaced, at: location.start)
                }
                // Always succeeds, because `record` is the current one.
                _ = move(key, from: record.location, to: location)
                keys[location.start] = key
            case .removed(let start): if let key = keys[start] { remove(key, at: start) }
            case .used(let start):
                // The result is the record; only the new recency matters.
                if let key = keys[start], records[key]?.location.start == start { _ = records.use(key) }
            }
        }
        // Checks the segments last, because an entry may first have been in a segment that was removed after the move.
        for key in keysFromLeastRecent {
            guard let location = records[key]?.location else { continue }
            if location.end > lengths[location.segment] ?? 0 { remove(key) }
        }
    }

    /// The number of bytes that all entries take in their segments.
    package var cost: Int { records.cost }

    /// The number of entries.
    package var count: Int { records.count }

    /// The entry under a key; does not count as a use.
    subscript(key: CacheKey) -> Record? { records[key] }

    /// Returns the keys of the entries for an address outside of the default partition.
    func partitionedKeys(of address: String) -> Set<CacheKey> { records.partitionedKeys(of: address) }

    /// All keys, the least recently used first.
    var keysFromLeastRecent: [CacheKey] { records.keysFromLeastRecent }

    /// Returns the record of the entry under a key, and makes the entry the most recently used.
    mutating func use(_ key: CacheKey) -> Record? { records.use(key) }

    /// Inserts an entry under a key, replacing an existing one.
    mutating func insert(_ record: Record, for key: CacheKey) {
        if let old = records.insert(record, for: key, cost: record.location.length) {
            subtractBytes(at: old.location)
        }
        countBytes(of: key, at: record.location)
    }

    /// Adds an entry to the live bytes and the keys of its segment.
    private mutating func countBytes(of key: CacheKey, at location: EntryLocation) {
        liveBytes[location.segment, default: 0] += location.length
        keysBySegment[location.segment, default: []].append(key)
    }

    /// Records the new location of an entry, whose recency does not change. Returns false if the entry is no longer at the old
    /// location.
    mutating func move(_ key: CacheKey, from location: EntryLocation, to newLocation: EntryLocation) -> Bool {
        guard let record = records[key], record.location == location else { return false }
        subtractBytes(at: location)
        let moved = Record(location: newLocation, storedTime: record.storedTime, terms: record.terms)
        records.replace(moved, for: key, cost: newLocation.length)
        countBytes(of: key, at: newLocation)
        return true
    }

    /// Removes and returns the entry under a key.
    @discardableResult
    mutating func remove(_ key: CacheKey) -> Record? {
        guard let record = records.remove(key) else { return nil }
        subtractBytes(at: record.location)
        return record
    }

    /// Removes the entry under a key if it is at this location.
    private mutating func remove(_ key: CacheKey, at start: EntryLocation.Start) {
        if records[key]?.location.start == start { remove(key) }
    }

    /// Removes and returns the least recently used entry.
    mutating func removeLeastRecent() -> Record? {
        guard let (_, record) = records.removeLeastRecent() else { return nil }
        subtractBytes(at: record.location)
        return record
    }

    /// Subtracts an entry from the live bytes of its segment. Its key stays in `keysBySegment` until the segment has no live
    /// bytes.
    private mutating func subtractBytes(at location: EntryLocation) {
        let remaining = (liveBytes[location.segment] ?? location.length) - location.length
        liveBytes[location.segment] = remaining > 0 ? remaining : nil
        if remaining <= 0 { keysBySegment[location.segment] = nil }
    }

    // MARK: segments

    /// Returns the keys of the entries that were written to a segment. Some may have been moved or removed since; a key is there
    /// twice if its entry was written to the segment again.
    func keys(in segment: UInt64) -> [CacheKey] { keysBySegment[segment] ?? [] }

    /// The changes from which this index can be created again, in order of last use.
    package var changes: [CacheLog.Change] {
        records.keysFromLeastRecent.compactMap { key in records[key].map { .stored(key, $0) } }
    }
}
