// SPDX-License-Identifier: MIT

/// The dynamic table of one direction: RFC 7541 §2.3.2 and §4.
///
/// Entries are numbered from 1 as they are inserted; the newest has index 62. They lie in a ring that grows with their
/// number, which the maximum size bounds: no entry counts for fewer than 32 octets.
struct DynamicTable: Sendable {
    private var ring = [TableEntry](repeating: .empty, count: 16)
    /// How many entries there are.
    private(set) var count = 0
    /// The number of the newest entry.
    private(set) var newest = 0
    /// What all entries count for.
    private(set) var size = 0
    /// What they may count for.
    private(set) var maximumSize: Int

    init(maximumSize: Int) { self.maximumSize = max(maximumSize, 0) }

    /// The entry with an index of the combined address space, 62 and above; nil when there is none.
    @inline(__always)
    func entry(at index: Int) -> TableEntry? {
        let age = index &- StaticTable.count &- 1
        return age >= 0 && age < count ? ring[place(newest &- age)] : nil
    }

    /// Whether the entry with a number is still there and has that name.
    func hasName(_ name: Span<UInt8>, numbered number: Int) -> Bool {
        let age = newest &- number
        return age >= 0 && age < count && ring[place(number)].hasName(name)
    }

    /// Whether the entry with a number is still there and is that field.
    func hasField(_ name: Span<UInt8>, _ value: Span<UInt8>, numbered number: Int) -> Bool {
        hasName(name, numbered: number) && ring[place(number)].hasValue(value)
    }

    /// The index of the entry with a number, whether or not it is still there.
    func index(ofNumber number: Int) -> Int { StaticTable.count &+ 1 &+ newest &- number }

    private func place(_ number: Int) -> Int { number & (ring.count &- 1) }

    /// Whether an entry has to go before one of `size` can come, or for the maximum size to be kept.
    func mustEvict(for size: Int) -> Bool { count > 0 && self.size > maximumSize &- size }

    /// Takes the oldest entry out; nil when there is none.
    @discardableResult
    mutating func evictOldest() -> (number: Int, entry: TableEntry)? {
        guard count > 0 else { return nil }
        let number = newest &- count &+ 1
        let entry = ring[place(number)]
        ring[place(number)] = .empty
        count &-= 1
        size &-= entry.size
        return (number, entry)
    }

    /// Inserts an entry, for which older ones are evicted. One that is larger than the table empties it, which is no
    /// error (§4.4).
    mutating func insert(_ entry: TableEntry) {
        while mustEvict(for: entry.size) { evictOldest() }
        guard entry.size <= maximumSize else { return }
        if count == ring.count { grow() }
        newest &+= 1
        count &+= 1
        size &+= entry.size
        ring[place(newest)] = entry
    }

    /// Sets the maximum size, for which older entries are evicted (§4.3).
    mutating func resize(to maximumSize: Int) {
        self.maximumSize = max(maximumSize, 0)
        while mustEvict(for: 0) { evictOldest() }
    }

    private mutating func grow() {
        var larger = [TableEntry](repeating: .empty, count: ring.count &* 2)
        for number in (newest &- count &+ 1)...newest {
            larger[number & (larger.count &- 1)] = ring[place(number)]
        }
        ring = larger
    }
}
