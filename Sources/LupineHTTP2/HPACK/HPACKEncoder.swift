// SPDX-License-Identifier: MIT

import LupineHTTP

/// Encodes the header blocks of one direction of a connection, in the order in which they are sent: RFC 7541.
///
/// A sensitive field is sent as a literal that no table may contain. Any other field that is in a table is sent as its index. The
/// rest are sent as literals and added to the dynamic table, unless their list excludes them (`HeaderList.Indexing`) or they are
/// larger than three quarters of the table. Strings are Huffman-coded where that is not longer.
package struct HPACKEncoder: Sendable {
    /// A cookie of fewer octets is never indexed: an attacker who observes the lengths of blocks could guess it
    /// (RFC 7541 §7.1.3).
    package static let shortCookieOctets = 20

    /// Whether strings may be Huffman-coded.
    package var usesHuffman = true
    /// The largest dynamic table that this encoder keeps, whatever the peer allows.
    private let ownTableSizeLimit: Int
    private var table: DynamicTable
    /// Finds the entries of `table` by name and value.
    private var fieldIndex = FieldIndex()
    /// The table sizes that the next block must announce: the smallest since the last block, and the current one. Nil if the size
    /// has not changed.
    private var pendingUpdate: (smallest: Int, current: Int)?

    /// Creates an encoder for a new connection, whose peer starts with a table of 4,096 octets.
    package init(tableSizeLimit: Int = HPACKDecoder.initialTableSize) {
        ownTableSizeLimit = max(tableSizeLimit, 0)
        table = DynamicTable(maximumSize: HPACKDecoder.initialTableSize)
        // Reduces the table if `tableSizeLimit` is smaller than the initial size.
        setTableSizeLimit(HPACKDecoder.initialTableSize)
    }

    /// Creates an encoder for the examples of RFC 7541, Appendix C: its table has a different size without a size update.
    init(tableSize: Int, usesHuffman: Bool) {
        ownTableSizeLimit = tableSize
        table = DynamicTable(maximumSize: tableSize)
        self.usesHuffman = usesHuffman
    }

    /// The current size of the dynamic table, in the octets of RFC 7541 §4.1.
    package var tableSize: Int { table.size }
    /// The number of entries in the dynamic table.
    package var tableEntryCount: Int { table.count }

    /// Applies the peer's SETTINGS_HEADER_TABLE_SIZE; the next block announces the size that is used.
    package mutating func setTableSizeLimit(_ size: Int) {
        let size = min(max(size, 0), ownTableSizeLimit)
        guard size != table.maximumSize else { return }
        // Entries are evicted here, because those that `table.resize` evicts would remain in `fieldIndex`.
        evict(while: { $0.size > size })
        table.resize(to: size)
        pendingUpdate = (min(size, pendingUpdate?.smallest ?? size), size)
    }

    /// Appends a list to `output` as a header block.
    package mutating func encode(_ list: HeaderList, into output: inout [UInt8]) {
        // No string gets longer by encoding. A field takes at most three integers: one index and two lengths. At most two size
        // updates, of one integer each, precede the fields.
        let maximumCount = list.octets.count &+ (3 &* list.count &+ 2) &* HPACKInteger.maximumOctets
        output.append(addingCapacity: maximumCount) { encode(list, into: &$0) }
    }

    /// Appends a list to an output that has room for all of it.
    private mutating func encode(_ list: HeaderList, into output: inout OutputSpan<UInt8>) {
        encodeSizeUpdates(into: &output)
        let octets = list.octets.span
        for position in list.indices {
            let (name, value) = list.ranges(at: position)
            encode(
                name: octets.extracting(name), value: octets.extracting(value),
                list.indexing(at: position), into: &output)
        }
    }

    /// Writes at most two updates: the smallest size since the last block, and the current one (RFC 7541 §4.2).
    private mutating func encodeSizeUpdates(into output: inout OutputSpan<UInt8>) {
        guard let (smallest, current) = pendingUpdate else { return }
        pendingUpdate = nil
        // A size update begins with the bits 001 (RFC 7541 §6.3).
        if smallest < current {
            HPACKInteger.encode(smallest, prefix: 5, pattern: 0x20, into: &output)
        }
        HPACKInteger.encode(current, prefix: 5, pattern: 0x20, into: &output)
    }

    /// Appends one field: as an index if it is in a table, and as a literal otherwise.
    private mutating func encode(
        name: Span<UInt8>, value: Span<UInt8>, _ indexing: HeaderList.Indexing,
        into output: inout OutputSpan<UInt8>
    ) {
        // The highest bits of the first octet (RFC 7541 §6): 1 for an index, 01 for a literal that is added to the table, 0000
        // for one that is not added, and 0001 for one that must never be added.
        let nameHash = FieldHash.hash(ofName: name)
        if indexing == .never || Self.isSensitive(name, value) {
            let nameIndex = indexOfName(nameHash, name)
            return encodeLiteral(nameIndex, prefix: 4, pattern: 0x10, name, value, into: &output)
        }
        let hash = FieldHash(name: nameHash, value: value)
        if let index = indexOfField(hash, name, value) {
            return HPACKInteger.encode(index, prefix: 7, pattern: 0x80, into: &output)
        }
        let nameIndex = indexOfName(nameHash, name)
        let size = TableEntry.overhead &+ name.count &+ value.count
        // A field of more than three quarters of the table would evict most other entries.
        guard indexing == .incremental, size <= table.maximumSize &- table.maximumSize / 4 else {
            return encodeLiteral(nameIndex, prefix: 4, pattern: 0x00, name, value, into: &output)
        }
        encodeLiteral(nameIndex, prefix: 6, pattern: 0x40, name, value, into: &output)
        insert(name, value, size, hash)
    }

    /// Returns whether a field holds credentials, or a cookie short enough to be guessed.
    private static func isSensitive(_ name: Span<UInt8>, _ value: Span<UInt8>) -> Bool {
        // Checks the length first: most names are then compared with no text at all.
        switch name.count {
        case 6: value.count < shortCookieOctets && name.isText("cookie")
        case 10: value.count < shortCookieOctets && name.isText("set-cookie")
        case 13: name.isText("authorization")
        case 19: name.isText("proxy-authorization")
        default: false
        }
    }

    // MARK: Tables

    /// Returns the index of an entry with this name and value; nil if neither table has one.
    private func indexOfField(_ hash: FieldHash, _ name: Span<UInt8>, _ value: Span<UInt8>) -> Int? {
        // A field of the static table is never added to the dynamic one, so the order of the look-ups does not matter.
        if let number = fieldIndex.number(ofField: hash), table.hasField(name, value, numbered: number) {
            return table.index(ofNumber: number)
        }
        if let index = StaticTable.fieldIndex.number(ofField: hash),
            StaticTable.hasField(name, value, at: index)
        {
            return index
        }
        return nil
    }

    /// Returns the index of an entry with this name; nil if neither table has one.
    private func indexOfName(_ hash: UInt64, _ name: Span<UInt8>) -> Int? {
        if let index = StaticTable.fieldIndex.number(ofName: hash), StaticTable.hasName(name, at: index) {
            return index
        }
        if let number = fieldIndex.number(ofName: hash), table.hasName(name, numbered: number) {
            return table.index(ofNumber: number)
        }
        return nil
    }

    /// Adds a field to the dynamic table.
    private mutating func insert(
        _ name: Span<UInt8>, _ value: Span<UInt8>, _ size: Int, _ hash: FieldHash
    ) {
        // Entries are evicted here, because those that `table.insert` evicts would remain in `fieldIndex`.
        evict(while: { $0.mustEvict(for: size) })
        var octets: [UInt8] = []
        octets.reserveCapacity(name.count &+ value.count)
        octets.append(name, name.indices)
        octets.append(value, value.indices)
        table.insert(TableEntry(octets: octets, nameCount: name.count))
        fieldIndex.insert(hash, number: table.newestNumber)
    }

    /// Removes entries from the table and its index, the oldest first, while `mustEvict` returns true.
    private mutating func evict(while mustEvict: (DynamicTable) -> Bool) {
        while mustEvict(table), let (number, entry) = table.evictOldest() {
            fieldIndex.remove(FieldHash(entry), number: number)
        }
    }

    // MARK: Representations

    /// Appends a literal field (RFC 7541 §6.2). `pattern` has the high bits of the first octet, which tell whether the field may
    /// be added to a table. The index of the name begins in the `prefix` bits below them.
    private func encodeLiteral(
        _ nameIndex: Int?, prefix: Int, pattern: UInt8, _ name: Span<UInt8>, _ value: Span<UInt8>,
        into output: inout OutputSpan<UInt8>
    ) {
        // Index 0 means that the name follows as a string.
        HPACKInteger.encode(nameIndex ?? 0, prefix: prefix, pattern: pattern, into: &output)
        if nameIndex == nil { encodeString(name, into: &output) }
        encodeString(value, into: &output)
    }

    /// Appends a string literal (RFC 7541 §5.2).
    private func encodeString(_ text: Span<UInt8>, into output: inout OutputSpan<UInt8>) {
        if usesHuffman, !text.isEmpty, encodeWithHuffman(text, into: &output) { return }
        HPACKInteger.encode(text.count, prefix: 7, pattern: 0x00, into: &output)
        for index in text.indices { output.append(text[index]) }
    }

    /// Appends a string in its Huffman code. Returns false, and appends nothing, if that is longer than the string.
    private func encodeWithHuffman(_ text: Span<UInt8>, into output: inout OutputSpan<UInt8>) -> Bool {
        let position = output.count
        if text.count < Self.smallestTwoOctetLength {
            // This octet is a placeholder: the length replaces it once the string has been encoded. Counting the length first
            // would need a second pass.
            output.append(0)
            if HuffmanCode.encode(text, atMost: text.count, into: &output) {
                // The highest bit marks a Huffman-coded string.
                output[position] = 0x80 | UInt8(truncatingIfNeeded: output.count &- position &- 1)
                return true
            }
            output.removeLast(1)
            return false
        }
        let count = HuffmanCode.encodedCount(text)
        guard count <= text.count else { return false }
        HPACKInteger.encode(count, prefix: 7, pattern: 0x80, into: &output)
        // Always true: the code has exactly `count` octets.
        return HuffmanCode.encode(text, atMost: count, into: &output)
    }

    /// The smallest length that does not fit into a prefix of seven bits, and so takes a second octet (RFC 7541 §5.1).
    private static let smallestTwoOctetLength = 127
}

extension Span where Element == UInt8 {
    /// Returns whether the octets are the UTF-8 of `text`.
    func isText(_ text: String) -> Bool {
        let expected = text.utf8.span
        guard count == expected.count else { return false }
        for index in indices where self[index] != expected[index] { return false }
        return true
    }
}
