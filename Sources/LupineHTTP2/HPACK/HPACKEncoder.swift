// SPDX-License-Identifier: MIT

import LupineHTTP

/// Encodes the header blocks of one direction of a connection, in the order in which they are sent: RFC 7541.
///
/// A field that is in a table is sent as its index. Any other field is added to the dynamic table, unless its list excludes it
/// (`HeaderList.Indexing`), it is sensitive, or it is larger than three quarters of the table. Strings are Huffman-coded where
/// that is not longer.
package struct HPACKEncoder: Sendable {
    /// A cookie of fewer octets is never indexed: an attacker who observes the lengths of blocks could guess it
    /// (RFC 7541 §7.1.3).
    package static let shortCookieOctets = 20

    /// Whether strings may be Huffman-coded.
    package var usesHuffman = true
    /// The largest dynamic table that this encoder keeps, whatever the peer allows.
    private let ownLimit: Int
    private var table: DynamicTable
    private var index = FieldIndex()
    /// The table sizes that the next block must announce: the smallest since the last block, and the current one.
    private var pendingUpdate: (smallest: Int, present: Int)?

    /// Creates an encoder for a new connection, whose peer starts with a table of 4,096 octets.
    package init(tableSizeLimit: Int = HPACKDecoder.initialTableSize) {
        ownLimit = max(tableSizeLimit, 0)
        table = DynamicTable(maximumSize: HPACKDecoder.initialTableSize)
        setTableSizeLimit(HPACKDecoder.initialTableSize)
    }

    /// Creates an encoder whose table has a size other than the initial one without announcing it, as in Appendix C.
    init(tableSize: Int, usesHuffman: Bool) {
        ownLimit = tableSize
        table = DynamicTable(maximumSize: tableSize)
        self.usesHuffman = usesHuffman
    }

    /// The current size of the dynamic table, in the octets of RFC 7541 §4.1.
    package var tableSize: Int { table.size }
    /// The number of entries in the dynamic table.
    package var tableCount: Int { table.count }

    /// Applies the peer's SETTINGS_HEADER_TABLE_SIZE; the next block announces the size that is used.
    package mutating func setTableSizeLimit(_ size: Int) {
        let size = min(max(size, 0), ownLimit)
        guard size != table.maximumSize else { return }
        evict { $0.size > size }
        table.resize(to: size)
        pendingUpdate = (min(size, pendingUpdate?.smallest ?? size), size)
    }

    /// Appends a list to `output` as a header block.
    package mutating func encode(_ list: HeaderList, into output: inout [UInt8]) {
        // No string gets longer by encoding, and a field takes at most three integers: one index and two lengths.
        let maximumCount = list.octets.count &+ (3 &* list.count &+ 2) &* HPACKInteger.mostOctets
        output.append(addingCapacity: maximumCount) { encode(list, into: &$0) }
    }

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
        guard let (smallest, present) = pendingUpdate else { return }
        pendingUpdate = nil
        if smallest < present {
            // The pattern 001 of an update (RFC 7541 §6.3).
            HPACKInteger.encode(smallest, prefix: 5, pattern: 0x20, into: &output)
        }
        HPACKInteger.encode(present, prefix: 5, pattern: 0x20, into: &output)
    }

    /// Appends one field: as an index if it is in a table, and as a literal otherwise.
    private mutating func encode(
        name: Span<UInt8>, value: Span<UInt8>, _ indexing: HeaderList.Indexing,
        into output: inout OutputSpan<UInt8>
    ) {
        // The patterns of RFC 7541 §6: 1 for an index, 01 for a literal that is added to the table, 0000 for one that is not, and
        // 0001 for one that must never be.
        let nameHash = FieldHash.ofName(name)
        if indexing == .never || Self.isSensitive(name, value) {
            let nameIndex = indexOfName(nameHash, name)
            return encodeLiteral(nameIndex, prefix: 4, pattern: 0x10, name, value, into: &output)
        }
        let hash = FieldHash(name: nameHash, value: value)
        if let found = indexOfField(hash, name, value) {
            return HPACKInteger.encode(found, prefix: 7, pattern: 0x80, into: &output)
        }
        let nameIndex = indexOfName(nameHash, name)
        let size = TableEntry.overhead &+ name.count &+ value.count
        guard indexing == .incremental, size <= table.maximumSize &- table.maximumSize / 4 else {
            return encodeLiteral(nameIndex, prefix: 4, pattern: 0x00, name, value, into: &output)
        }
        encodeLiteral(nameIndex, prefix: 6, pattern: 0x40, name, value, into: &output)
        insert(name, value, size, hash)
    }

    /// Returns whether a field holds credentials, or a cookie short enough to be guessed.
    private static func isSensitive(_ name: Span<UInt8>, _ value: Span<UInt8>) -> Bool {
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
        if let number = index.entry(withField: hash), table.hasField(name, value, numbered: number) {
            return table.index(ofNumber: number)
        }
        if let index = StaticTable.index.entry(withField: hash),
            StaticTable.hasField(name, value, at: index)
        {
            return index
        }
        return nil
    }

    /// Returns the index of an entry with this name; nil if neither table has one.
    private func indexOfName(_ hash: UInt64, _ name: Span<UInt8>) -> Int? {
        if let index = StaticTable.index.entry(withName: hash), StaticTable.hasName(name, at: index) {
            return index
        }
        if let number = index.entry(withName: hash), table.hasName(name, numbered: number) {
            return table.index(ofNumber: number)
        }
        return nil
    }

    /// Adds a field to the dynamic table.
    private mutating func insert(
        _ name: Span<UInt8>, _ value: Span<UInt8>, _ size: Int, _ hash: FieldHash
    ) {
        evict { $0.mustEvict(for: size) }
        var octets: [UInt8] = []
        octets.reserveCapacity(name.count &+ value.count)
        octets.append(name, name.indices)
        octets.append(value, value.indices)
        table.insert(TableEntry(octets: octets, nameCount: name.count))
        index.insert(hash, table.newest)
    }

    /// Removes entries from the table and its index, the oldest first, while `mustEvict` returns true.
    private mutating func evict(while mustEvict: (DynamicTable) -> Bool) {
        while mustEvict(table), let (number, entry) = table.evictOldest() {
            index.remove(FieldHash(entry), number)
        }
    }

    // MARK: Representations

    /// Appends a literal field (RFC 7541 §6.2). `pattern` has the bits for its kind of indexing.
    private func encodeLiteral(
        _ nameIndex: Int?, prefix: Int, pattern: UInt8, _ name: Span<UInt8>, _ value: Span<UInt8>,
        into output: inout OutputSpan<UInt8>
    ) {
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
        if text.count < Self.lengthsInOneOctet {
            // The length is known after encoding; counting it first would be a second pass over the string.
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
        return HuffmanCode.encode(text, atMost: count, into: &output)
    }

    /// The lengths below this one fit into the octet of their prefix of seven bits (RFC 7541 §5.1).
    private static let lengthsInOneOctet = 127
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
