// SPDX-License-Identifier: MIT

/// The dynamic table of one direction: RFC 7541 §2.3.2 and §4.
///
/// Entries are numbered from 1 in the order of insertion; the newest has index 62. They are stored in a ring that grows with
/// their count, which the maximum size bounds: each entry counts for at least 32 octets.
struct DynamicTable: Sendable {
    private var ring = [TableEntry](repeating: .empty, count: 16)
    /// The number of entries.
    private(set) var count = 0
    /// The number of the newest entry.
    private(set) var newest = 0
    /// The sum of the sizes of all entries.
    private(set) var size = 0
    /// The largest allowed `size`.
    private(set) var maximumSize: Int

    init(maximumSize: Int) { self.maximumSize = max(maximumSize, 0) }

    /// Returns the entry with an index of the combined address space, 62 and above; nil if there is none.
    @inline(__always)
    func entry(at index: Int) -> TableEntry? {
        let age = index &- StaticTable.count &- 1
        return age >= 0 && age < count ? ring[slot(newest &- age)] : nil
    }

    /// Returns whether the entry with a number is still in the table and has the given name.
    func hasName(_ name: Span<UInt8>, numbered number: Int) -> Bool {
        let age = newest &- number
        return age >= 0 && age < count && ring[slot(number)].hasName(name)
    }

    /// Returns whether the entry with a number is still in the table and has the given name and value.
    func hasField(_ name: Span<UInt8>, _ value: Span<UInt8>, numbered number: Int) -> Bool {
        hasName(name, numbered: number) && ring[slot(number)].hasValue(value)
    }

    /// Returns the index of the entry with a number, whether or not it is still in the table.
    func index(ofNumber number: Int) -> Int { StaticTable.count &+ 1 &+ newest &- number }

    /// Returns the position in `ring` of the entry with a number.
    private func slot(_ number: Int) -> Int { number & (ring.count &- 1) }

    /// Returns whether an entry must be evicted before one of `size` is inserted, or, for 0, to respect the maximum size.
    func mustEvict(for size: Int) -> Bool { count > 0 && self.size > maximumSize &- size }

    /// Removes and returns the oldest entry; nil if there is none.
    @discardableResult
    mutating func evictOldest() -> (number: Int, entry: TableEntry)? {
        guard count > 0 else { return nil }
        let number = newest &- count &+ 1
        let entry = ring[slot(number)]
        ring[slot(number)] = .empty
        count &-= 1
        size &-= entry.size
        return (number, entry)
    }

    /// Inserts an entry and evicts older ones to make room. An entry larger than the table empties it, which is not an
    /// error (§4.4).
    mutating func insert(_ entry: TableEntry) {
        while mustEvict(for: entry.size) { evictOldest() }
        guard entry.size <= maximumSize else { return }
        if count == ring.count { grow() }
        newest &+= 1
        count &+= 1
        size &+= entry.size
        ring[slot(newest)] = entry
    }

    /// Sets the maximum size, and evicts the oldest entries that exceed it (§4.3).
    mutating func resize(to maximumSize: Int) {
        self.maximumSize = max(maximumSize, 0)
        while mustEvict(for: 0) { evictOldest() }
    }

    private mutating func grow() {
        var larger = [TableEntry](repeating: .empty, count: ring.count &* 2)
        for number in (newest &- count &+ 1)...newest {
            larger[number & (larger.count &- 1)] = ring[slot(number)]
        }
        ring = larger
    }
}
