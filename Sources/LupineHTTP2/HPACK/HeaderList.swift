// SPDX-License-Identifier: MIT

import LupineHTTP

/// A header list: fields in order, duplicates kept, pseudo-fields among them (RFC 7541 §1.3).
///
/// One buffer of octets and one table of offsets, however many fields there are. Names and values are any octets at all:
/// what HTTP allows in them is not this type's to judge.
package struct HeaderList: Sendable {
    /// How a field may be represented (RFC 7541 §6.2).
    package enum Indexing: Hashable, Sendable {
        /// It may enter the dynamic table.
        case incremental
        /// It is not worth a place in the table.
        case without
        /// It is sensitive: no table, on this hop or a later one, may hold it (§7.1.3).
        case never
    }

    private struct Entry: Sendable {
        var start: Int
        var nameCount: Int
        var valueCount: Int
        var indexing: Indexing
    }

    /// The names and values of all fields, one behind the other.
    package private(set) var octets: [UInt8] = []
    private var entries: [Entry] = []

    /// A list without fields.
    package init() {}

    /// How many fields there are.
    package var count: Int { entries.count }
    /// Their positions.
    package var indices: Range<Int> { entries.indices }
    /// What the list counts for: all octets, and 32 more for each field (RFC 9113 §6.5.2).
    package var size: Int { octets.count &+ entries.count &* TableEntry.overhead }

    /// Where in `octets` the name at a position stands.
    package func nameRange(at index: Int) -> Range<Int> {
        let entry = entries[index]
        return entry.start..<(entry.start &+ entry.nameCount)
    }

    /// Where in `octets` the value at a position stands.
    package func valueRange(at index: Int) -> Range<Int> {
        let entry = entries[index]
        let start = entry.start &+ entry.nameCount
        return start..<(start &+ entry.valueCount)
    }

    /// Where in `octets` the name and the value at a position stand.
    @inline(__always)
    func ranges(at index: Int) -> (name: Range<Int>, value: Range<Int>) {
        let entry = entries[index]
        let middle = entry.start &+ entry.nameCount
        return (entry.start..<middle, middle..<(middle &+ entry.valueCount))
    }

    /// Makes room for so many fields, which have so many octets together.
    mutating func reserve(fields count: Int, octets octetCount: Int) {
        entries.reserveCapacity(count)
        octets.reserveCapacity(octetCount)
    }

    /// How the field at a position may be represented; of a decoded one, how it was.
    package func indexing(at index: Int) -> Indexing { entries[index].indexing }

    /// Adds a field behind the others.
    package mutating func append(name: Span<UInt8>, value: Span<UInt8>, indexing: Indexing = .incremental) {
        let start = octets.count
        octets.append(name, name.indices)
        octets.append(value, value.indices)
        entries.append(
            Entry(start: start, nameCount: name.count, valueCount: value.count, indexing: indexing))
    }

    /// Adds a field behind the others, given as texts.
    package mutating func append(_ name: String, _ value: String, indexing: Indexing = .incremental) {
        append(name: name.utf8.span, value: value.utf8.span, indexing: indexing)
    }

    // MARK: for the decoder

    /// Makes room for a list that is usual for a block of so many octets, all at once.
    mutating func reserve(forBlockOf count: Int, atMost most: Int) {
        octets.reserveCapacity(min(count &* 2 &+ 256, most))
        entries.reserveCapacity(min(count, 16))
    }

    /// Adds the field of an indexed representation.
    mutating func append(_ entry: TableEntry) {
        entries.append(
            Entry(
                start: octets.count, nameCount: entry.nameCount,
                valueCount: entry.octets.count &- entry.nameCount, indexing: .incremental))
        octets.append(contentsOf: entry.octets)
    }

    /// Makes a field of the octets from `start` on, which `withOctets` has added.
    mutating func appendField(from start: Int, nameCount: Int, indexing: Indexing) {
        entries.append(
            Entry(
                start: start, nameCount: nameCount, valueCount: octets.count &- start &- nameCount,
                indexing: indexing))
    }

    /// Lends the buffer to a decoder that adds a name or value to it.
    @inline(__always)
    mutating func withOctets(
        _ body: (inout [UInt8]) throws(HPACKError) -> Void
    ) throws(HPACKError) { try body(&octets) }

    /// Drops octets that became no field.
    mutating func removeOctets(from start: Int) { octets.removeLast(octets.count &- start) }

    /// Drops everything.
    mutating func removeAll() {
        octets = []
        entries = []
    }
}

/// Equal lists have the same fields in the same order; how they are represented does not matter.
extension HeaderList: Hashable {
    package static func == (left: HeaderList, right: HeaderList) -> Bool {
        guard left.count == right.count, left.octets == right.octets else { return false }
        return left.indices.allSatisfy { left.nameRange(at: $0) == right.nameRange(at: $0) }
            && left.indices.allSatisfy { left.valueRange(at: $0) == right.valueRange(at: $0) }
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(octets)
        hasher.combine(count)
    }
}

/// Names alone: values may be secrets.
extension HeaderList: CustomStringConvertible {
    package var description: String {
        "[" + indices.map { octets.span.text(nameRange(at: $0)) }.joined(separator: ", ") + "]"
    }
}
