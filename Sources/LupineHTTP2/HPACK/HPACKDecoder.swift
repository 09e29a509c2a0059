// SPDX-License-Identifier: MIT

import LupineHTTP

/// Decodes the header blocks of one direction of a connection, in the order in which they arrive: RFC 7541.
///
/// A block is decoded as a whole; `HeaderBlockAssembler` has limited its size. If a list exceeds a limit, the decoder drops the
/// list, but decodes the block to its end to keep the dynamic table up to date. It then throws, and can decode further blocks.
/// From that limit on, a field that the block represents by its index is not copied. The work is therefore proportional to the
/// size of the block. After any other error, the tables of the two endpoints differ, and each further call throws that error
/// again.
package struct HPACKDecoder: Sendable {
    /// The size of a dynamic table before any setting (RFC 9113 §6.5.2).
    package static let initialTableSize = 4_096

    private let limits: HPACKLimits
    private var table = DynamicTable(maximumSize: initialTableSize)
    /// The largest size that a size update of the peer may set: see `setTableSizeLimit(_:)`.
    private var tableSizeLimit = initialTableSize
    /// The smallest limit since the last block, if the table is larger: the next block must begin with a size update to at most
    /// this size (RFC 7541 §4.2). Nil if the next block needs no size update.
    private var requiredSizeUpdate: Int?
    /// The error that made the decoder unusable; nil if there was none.
    private var failure: HPACKError?

    /// Creates a decoder for a new connection.
    package init(limits: HPACKLimits = HPACKLimits()) { self.limits = limits }

    /// Creates a decoder for the examples of RFC 7541, Appendix C: its table has a different size without a size update.
    init(tableSize: Int) {
        self.init()
        table = DynamicTable(maximumSize: tableSize)
        tableSizeLimit = tableSize
    }

    /// The current size of the dynamic table, in the octets of RFC 7541 §4.1.
    package var tableSize: Int { table.size }
    /// The number of entries in the dynamic table.
    package var tableEntryCount: Int { table.count }

    /// Sets the largest size that the peer's encoder may use for its table. The owner calls it with an increased
    /// SETTINGS_HEADER_TABLE_SIZE when it announces the setting, and with a reduced one when the peer has acknowledged it.
    package mutating func setTableSizeLimit(_ size: Int) {
        tableSizeLimit = max(size, 0)
        let lowest = min(tableSizeLimit, requiredSizeUpdate ?? tableSizeLimit)
        requiredSizeUpdate = lowest < table.maximumSize ? lowest : nil
    }

    /// Decodes a block. Throws if the block is malformed or its list exceeds a limit.
    package mutating func decode(_ block: Span<UInt8>) throws(HPACKError) -> HeaderList {
        if let failure { throw failure }
        do throws(HPACKError) {
            var list = HeaderList()
            list.reserve(forBlockOf: block.count, atMost: max(limits.listOctets, 0))
            let limitError = try decode(block, into: &list)
            if let limitError { throw limitError }
            return list
        } catch {
            if !error.leavesTablesEqual { failure = error }
            throw error
        }
    }

    /// Decodes a block into `list`. Returns the error if the list exceeds a limit, and nil otherwise. Throws only errors after
    /// which the tables of the two endpoints differ.
    private mutating func decode(
        _ block: Span<UInt8>, into list: inout HeaderList
    ) throws(HPACKError) -> HPACKError? {
        var position = 0
        try applySizeUpdates(block, at: &position)
        var limitError: HPACKError?
        while position < block.count {
            let fieldError = try decodeField(
                block, at: &position, into: &list, appendsField: limitError == nil)
            if limitError == nil, let fieldError {
                limitError = fieldError
                list.removeAll()
            }
        }
        return limitError
    }

    /// Applies the size updates, which precede all fields (RFC 7541 §4.2).
    private mutating func applySizeUpdates(_ block: Span<UInt8>, at position: inout Int) throws(HPACKError) {
        // A size update begins with the bits 001 (RFC 7541 §6.3).
        while position < block.count, block[position] & 0xE0 == 0x20 {
            let size = try HPACKInteger.decode(block, at: &position, prefix: 5)
            guard size <= tableSizeLimit else {
                throw .sizeUpdateTooLarge(size, allowed: tableSizeLimit)
            }
            // Only the first update is checked; a later one may enlarge the table again.
            if let requiredSizeUpdate, size > requiredSizeUpdate {
                throw .missingSizeUpdate(allowed: requiredSizeUpdate)
            }
            requiredSizeUpdate = nil
            table.resize(to: size)
        }
        if let requiredSizeUpdate { throw .missingSizeUpdate(allowed: requiredSizeUpdate) }
    }

    /// Decodes one field. Returns the error if the field makes the list exceed a limit, and nil otherwise. `appendsField` is
    /// false after the list has exceeded a limit: the field then changes only the table.
    @inline(__always)
    private mutating func decodeField(
        _ block: Span<UInt8>, at position: inout Int, into list: inout HeaderList, appendsField: Bool
    ) throws(HPACKError) -> HPACKError? {
        // The highest bits tell the representations apart (RFC 7541 §6): 1 is an index, 01 a literal that is added to the table,
        // 001 a size update, 0001 a literal that must never be added, 0000 one that is not added.
        let firstOctet = block[position]
        if firstOctet & 0x80 != 0 {
            let entry = try entry(at: HPACKInteger.decode(block, at: &position, prefix: 7))
            guard appendsField else { return nil }
            if let limitError = exceededLimit(byFieldOf: entry.size, in: list) { return limitError }
            list.append(entry)
            return nil
        }
        if firstOctet & 0x40 != 0 {
            return try decodeLiteral(
                block, at: &position, prefix: 6, .incremental, into: &list, appendsField: appendsField)
        }
        if firstOctet & 0x20 != 0 { throw .misplacedSizeUpdate }
        let indexing = firstOctet & 0x10 != 0 ? HeaderList.Indexing.never : .without
        return try decodeLiteral(
            block, at: &position, prefix: 4, indexing, into: &list, appendsField: appendsField)
    }

    /// Decodes a literal field (RFC 7541 §6.2). The index of its name begins in the low `prefix` bits of the first octet. Returns
    /// the error if the field makes the list exceed a limit, and nil otherwise.
    private mutating func decodeLiteral(
        _ block: Span<UInt8>, at position: inout Int, prefix: Int, _ indexing: HeaderList.Indexing,
        into list: inout HeaderList, appendsField: Bool
    ) throws(HPACKError) -> HPACKError? {
        let start = list.octets.count
        let index = try HPACKInteger.decode(block, at: &position, prefix: prefix)
        // Index 0 means that the name follows as a string.
        let nameEntry = index == 0 ? nil : try entry(at: index)
        // Name and value are decoded at the end of the list's octets, and removed again if the field is not appended.
        try list.withOctets { octets throws(HPACKError) in
            if let nameEntry {
                octets.append(contentsOf: nameEntry.octets[nameEntry.nameRange])
            } else {
                try Self.decodeString(block, at: &position, into: &octets)
            }
        }
        let nameCount = list.octets.count &- start
        try list.withOctets { octets throws(HPACKError) in
            try Self.decodeString(block, at: &position, into: &octets)
        }
        let count = list.octets.count &- start
        if indexing == .incremental {
            table.insert(TableEntry(octets: Array(list.octets[start...]), nameCount: nameCount))
        }
        let longerCount = max(nameCount, count &- nameCount)
        let limitError =
            longerCount > limits.stringOctets
            ? HPACKError.limitExceeded(.stringOctets, allowed: limits.stringOctets)
            : exceededLimit(byFieldOf: TableEntry.overhead &+ count, in: list, octetsBefore: start)
        if appendsField, limitError == nil {
            list.appendField(from: start, nameCount: nameCount, indexing: indexing)
        } else {
            list.removeOctets(from: start)
        }
        return limitError
    }

    /// Returns the error if a further field of `size` octets makes the list exceed a limit; nil if the field fits. If the octets
    /// of the field have been appended already, `octetsBefore` is the number of octets that precede them.
    private func exceededLimit(
        byFieldOf size: Int, in list: HeaderList, octetsBefore: Int? = nil
    ) -> HPACKError? {
        guard list.count < limits.fieldCount else {
            return .limitExceeded(.fieldCount, allowed: limits.fieldCount)
        }
        let listSize = (octetsBefore ?? list.octets.count) &+ list.count &* TableEntry.overhead
        guard size <= limits.listOctets &- listSize else {
            return .limitExceeded(.listOctets, allowed: limits.listOctets)
        }
        return nil
    }

    /// Returns the entry with an index, from the static or the dynamic table.
    private func entry(at index: Int) throws(HPACKError) -> TableEntry {
        guard let entry = StaticTable.entry(at: index) ?? table.entry(at: index) else {
            throw .invalidIndex(index)
        }
        return entry
    }

    /// Decodes a string literal (RFC 7541 §5.2) and appends it to `octets`.
    private static func decodeString(
        _ block: Span<UInt8>, at position: inout Int, into octets: inout [UInt8]
    ) throws(HPACKError) {
        guard position < block.count else { throw .truncated }
        // The highest bit of the length marks a Huffman-coded string.
        let isHuffmanCoded = block[position] & 0x80 != 0
        let count = try HPACKInteger.decode(block, at: &position, prefix: 7)
        guard count <= block.count &- position else { throw .truncated }
        let text = block.extracting(position..<(position &+ count))
        position &+= count
        if isHuffmanCoded {
            try HuffmanDecoder.decode(text, into: &octets)
        } else {
            octets.append(text, text.indices)
        }
    }
}
