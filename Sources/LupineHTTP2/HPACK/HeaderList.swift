// SPDX-License-Identifier: MIT

import LupineHTTP

/// A header list: fields in order, including duplicates and pseudo-fields (RFC 7541 §1.3).
///
/// It needs one buffer of octets and one table of offsets, however many fields it has. Names and values may be any octets:
/// this type does not check what HTTP allows in them.
package struct HeaderList: Sendable {
    /// How a field may be represented (RFC 7541 §6.2).
    package enum Indexing: Hashable, Sendable {
        /// The field may be added to the dynamic table ("with incremental indexing").
        case incremental
        /// The field is not added to the dynamic table, because it is not worth the space.
        case without
        /// The field is sensitive: neither this encoder nor any intermediary may add it to a table (§7.1.3).
        case never
    }

    /// A field: its name starts at offset `start` of `octets`, and its value follows the name.
    private struct Entry: Sendable {
        var start: Int
        var nameCount: Int
        var valueCount: Int
        var indexing: Indexing
    }

    /// The concatenated names and values of all fields.
    package private(set) var octets: [UInt8] = []
    private var entries: [Entry] = []

    /// Creates an empty list.
    package init() {}

    /// The number of fields.
    package var count: Int { entries.count }
    /// The positions of the fields.
    package var indices: Range<Int> { entries.indices }
    /// The size of the list: all octets, and 32 more for each field (RFC 9113 §6.5.2).
    package var size: Int { octets.count &+ entries.count &* TableEntry.overhead }

    /// Returns the range in `octets` of the name at a position.
    package func nameRange(at index: Int) -> Range<Int> {
        let entry = entries[index]
        return entry.start..<(entry.start &+ entry.nameCount)
    }

    /// Returns the range in `octets` of the value at a position.
    package func valueRange(at index: Int) -> Range<Int> {
        let entry = entries[index]
        let start = entry.start &+ entry.nameCount
        return start..<(start &+ entry.valueCount)
    }

    /// Returns the ranges in `octets` of the name and the value at a position.
    @inline(__always)
    func ranges(at index: Int) -> (name: Range<Int>, value: Range<Int>) {
        let entry = entries[index]
        let middle = entry.start &+ entry.nameCount
        return (entry.start..<middle, middle..<(middle &+ entry.valueCount))
    }

    /// Reserves capacity for a number of fields and the sum of their octets.
    mutating func reserve(fields count: Int, octets octetCount: Int) {
        entries.reserveCapacity(count)
        octets.reserveCapacity(octetCount)
    }

    /// Returns how the field at a position may be encoded, or, in a decoded list, how it was encoded.
    package func indexing(at index: Int) -> Indexing { entries[index].indexing }

    /// Appends a field.
    package mutating func append(name: Span<UInt8>, value: Span<UInt8>, indexing: Indexing = .incremental) {
        let start = octets.count
        octets.append(name, name.indices)
        octets.append(value, value.indices)
        entries.append(
            Entry(start: start, nameCount: name.count, valueCount: value.count, indexing: indexing))
    }

    /// Appends a field, given as strings.
    package mutating func append(_ name: String, _ value: String, indexing: Indexing = .incremental) {
        append(name: name.utf8.span, value: value.utf8.span, indexing: indexing)
    }

    // MARK: For the decoder

    /// Reserves capacity for the typical list in a block of `count` octets.
    mutating func reserve(forBlockOf count: Int, atMost limit: Int) {
        // Estimates: Huffman coding and the tables halve a typical list, which has at most 16 fields.
        octets.reserveCapacity(min(count &* 2 &+ 256, limit))
        entries.reserveCapacity(min(count, 16))
    }

    /// Appends the field of a table entry, which the block represents by its index.
    mutating func append(_ entry: TableEntry) {
        entries.append(
            Entry(
                start: octets.count, nameCount: entry.nameCount,
                valueCount: entry.octets.count &- entry.nameCount, indexing: .incremental))
        octets.append(contentsOf: entry.octets)
    }

    /// Appends a field whose octets have already been appended by `withOctets`, from `start` to the end.
    mutating func appendField(from start: Int, nameCount: Int, indexing: Indexing) {
        entries.append(
            Entry(
                start: start, nameCount: nameCount, valueCount: octets.count &- start &- nameCount,
                indexing: indexing))
    }

    /// Calls `body` with `octets`, so that the decoder can append a name or value in place.
    @inline(__always)
    mutating func withOctets(
        _ body: (inout [UInt8]) throws(HPACKError) -> Void
    ) throws(HPACKError) { try body(&octets) }

    /// Removes octets from `start` to the end, which were appended by `withOctets` and belong to no field.
    mutating func removeOctets(from start: Int) { octets.removeLast(octets.count &- start) }

    /// Removes all fields and their octets.
    mutating func removeAll() {
        octets = []
        entries = []
    }
}

/// Equal lists have the same fields in the same order; their representation is not compared.
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

/// Describes a list by its names only: values may be secret.
extension HeaderList: CustomStringConvertible {
    package var description: String {
        "[" + indices.map { octets.span.text(nameRange(at: $0)) }.joined(separator: ", ") + "]"
    }
}
