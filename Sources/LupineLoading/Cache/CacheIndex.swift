// SPDX-License-Identifier: MIT

internal import Foundation

/// What a cache's folder holds, in memory: which entry is where, on what terms, and in which order they were used.
///
/// A value without a lock or a file. It counts for each segment what of it is still of use, so that its writer knows which are
/// worth to be written anew, and which nobody needs.
package struct CacheIndex: Sendable {
    /// An entry in the folder.
    package struct Item: Sendable {
        let place: CachePlace
        /// When it was stored, or last updated.
        let storedTime: Date
        let terms: CacheTerms
    }

    private var items = PartyList<CacheKey, Item>()
    /// The octets of each segment that are entries'.
    package private(set) var live: [UInt64: Int] = [:]
    /// Under which keys entries were put into each segment; most of them may be elsewhere by now.
    private var members: [UInt64: [CacheKey]] = [:]

    /// Nothing.
    init() {}

    /// What a log says, as far as the segments are there and long enough.
    ///
    /// - Parameters:
    ///   - changes: What the log says, the oldest first.
    ///   - lengths: How long each segment is.
    package init(_ changes: [CacheLog.Change], lengths: [UInt64: Int]) {
        var keys: [CachePlace.Start: CacheKey] = [:]
        for change in changes {
            switch change {
            case .stored(let key, let item):
                remove(key)
                // Of two entries at one place the later is there.
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
        // Not before: an entry may have been in a segment that has gone since.
        for (key, item) in keysFromLeastRecent.compactMap({ key in items[key].map { (key, $0) } })
        where item.place.end > lengths[item.place.segment] ?? 0 { remove(key) }
    }

    /// What all entries take in their segments.
    package var cost: Int { items.cost }

    /// How many there are.
    package var count: Int { items.count }

    /// The entry under a key; asking is no use.
    subscript(key: CacheKey) -> Item? { items[key] }

    /// The keys of an address that are not plain.
    func others(of address: String) -> Set<CacheKey> { items.others(of: address) }

    /// All keys, the one whose entry has not been used for the longest time first.
    var keysFromLeastRecent: [CacheKey] { items.keysFromLeastRecent }

    /// The entry under a key, which becomes the one used last.
    mutating func use(_ key: CacheKey) -> Item? { items.use(key) }

    /// Puts an entry under a key, in place of what was there.
    mutating func insert(_ item: Item, for key: CacheKey) {
        if let old = items.insert(item, for: key, cost: item.place.length) { forget(old.place) }
        count(key, at: item.place)
    }

    private mutating func count(_ key: CacheKey, at place: CachePlace) {
        live[place.segment, default: 0] += place.length
        members[place.segment, default: []].append(key)
    }

    /// Notes that an entry stands elsewhere now; it keeps its turn. False when it is not there any more.
    mutating func move(_ key: CacheKey, from place: CachePlace, to other: CachePlace) -> Bool {
        guard let item = items[key], item.place == place else { return false }
        forget(place)
        items.replace(
            Item(place: other, storedTime: item.storedTime, terms: item.terms), for: key, cost: other.length)
        count(key, at: other)
        return true
    }

    /// Takes out what is under a key.
    @discardableResult
    mutating func remove(_ key: CacheKey) -> Item? {
        guard let item = items.remove(key) else { return nil }
        forget(item.place)
        return item
    }

    private mutating func remove(_ key: CacheKey, at start: CachePlace.Start) {
        if items[key]?.place.start == start { remove(key) }
    }

    /// Takes out the entry that has not been used for the longest time.
    mutating func removeLeastRecent() -> Item? {
        guard let (_, item) = items.removeLeastRecent() else { return nil }
        forget(item.place)
        return item
    }

    private mutating func forget(_ place: CachePlace) {
        let left = (live[place.segment] ?? place.length) - place.length
        live[place.segment] = left > 0 ? left : nil
        if left <= 0 { members[place.segment] = nil }
    }

    // MARK: segments

    /// The entries in a segment.
    func entries(in segment: UInt64) -> [(key: CacheKey, item: Item)] {
        var seen: Set<CacheKey> = []
        return (members[segment] ?? []).compactMap { key in
            guard let item = items[key], item.place.segment == segment, seen.insert(key).inserted else {
                return nil
            }
            return (key, item)
        }
    }

    /// The log of what is there and nothing else, in the order of the last uses.
    package var changes: [CacheLog.Change] {
        items.keysFromLeastRecent.compactMap { key in items[key].map { .stored(key, $0) } }
    }
}
