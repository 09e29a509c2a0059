// SPDX-License-Identifier: MIT

/// The dynamic table of one direction: RFC 7541 §2.3.2 and §4.
///
/// Each entry has a number and an index. Numbers count insertions from 1, and the number of an entry never changes. Indices are
/// those of RFC 7541 §2.3.3: the newest entry always has index 62, and each insertion raises the indices of the older ones.
/// The entries are stored in a ring that grows with their count. The maximum size limits this count, since each entry counts
/// for at least 32 octets.
struct DynamicTable: Sendable {
    /// The entry with number n is at position n modulo the length of the ring, which is a power of two.
    private var ring = [TableEntry](repeating: .empty, count: 16)
    /// The number of entries.
    private(set) var count = 0
    /// The number of the newest entry.
    private(set) var newestNumber = 0
    /// The sum of the sizes of all entries.
    private(set) var size = 0
    /// The largest allowed `size`; entries are evicted to keep to it.
    private(set) var maximumSize: Int

    init(maximumSize: Int) { self.maximumSize = max(maximumSize, 0) }

    /// Returns the entry with an index of 62 or above; nil if there is none. Lower indices belong to the static table.
    @inline(__always)
    func entry(at index: Int) -> TableEntry? {
        // The newest entry has age 0.
        let age = index &- StaticTable.count &- 1
        return age >= 0 && age < count ? ring[slot(newestNumber &- age)] : nil
    }

    /// Returns whether the entry with a number is still in the table and has the given name.
    func hasName(_ name: Span<UInt8>, numbered number: Int) -> Bool {
        let age = newestNumber &- number
        return age >= 0 && age < count && ring[slot(number)].hasName(name)
    }

    /// Returns whether the entry with a number is still in the table and has the given name and value.
    func hasField(_ name: Span<UInt8>, _ value: Span<UInt8>, numbered number: Int) -> Bool {
        hasName(name, numbered: number) && ring[slot(number)].hasValue(value)
    }

    /// Returns the index of the entry with a number. The caller has checked that the entry is in the table.
    func index(ofNumber number: Int) -> Int { StaticTable.count &+ 1 &+ newestNumber &- number }

    /// Returns the position in `ring` of the entry with a number.
    private func slot(_ number: Int) -> Int { number & (ring.count &- 1) }

    /// Returns whether the oldest entry must be evicted before an entry of `size` octets is inserted. With a `size` of 0, it
    /// returns whether the table is larger than its maximum size.
    func mustEvict(for size: Int) -> Bool { count > 0 && self.size > maximumSize &- size }

    /// Removes and returns the oldest entry; nil if there is none.
    @discardableResult
    mutating func evictOldest() -> (number: Int, entry: TableEntry)? {
        guard count > 0 else { return nil }
        let number = newestNumber &- count &+ 1
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
        // The table is empty, and stays so.
        guard entry.size <= maximumSize else { return }
        if count == ring.count { grow() }
        newestNumber &+= 1
        count &+= 1
        size &+= entry.size
        ring[slot(newestNumber)] = entry
    }

    /// Sets the maximum size, and evicts the oldest entries that exceed it (§4.3).
    mutating func resize(to maximumSize: Int) {
        self.maximumSize = max(maximumSize, 0)
        while mustEvict(for: 0) { evictOldest() }
    }

    /// Doubles the length of the ring, and moves each entry to the position of its number.
    private mutating func grow() {
        var larger = [TableEntry](repeating: .empty, count: ring.count &* 2)
        for number in (newestNumber &- count &+ 1)...newestNumber {
            larger[number & (larger.count &- 1)] = ring[slot(number)]
        }
        ring = larger
    }
}
