// SPDX-License-Identifier: MIT

import LupineHTTP

/// Decodes the header blocks of one direction of a connection, in the order in which they arrive: RFC 7541.
///
/// It takes whole blocks, whose size `HeaderBlockAssembler` has limited, and its work is proportional to their size: an index of
/// a field that exceeds a limit copies nothing. A list above a limit is decoded to its end without being kept, and then refused;
/// the decoder stays usable. After any other error the tables of the two endpoints differ, and each further call throws that
/// error again.
package struct HPACKDecoder: Sendable {
    /// The size of a dynamic table before any setting (RFC 9113 §6.5.2).
    package static let initialTableSize = 4_096

    private let limits: HPACKLimits
    private var table = DynamicTable(maximumSize: initialTableSize)
    /// The largest size that an update may set: the acknowledged SETTINGS_HEADER_TABLE_SIZE.
    private var tableSizeLimit = initialTableSize
    /// The smallest limit since the last block, if the table is larger: the next block must begin with an update to at most
    /// this size.
    private var reduction: Int?
    private var failure: HPACKError?

    /// Creates a decoder for a new connection.
    package init(limits: HPACKLimits = HPACKLimits()) { self.limits = limits }

    /// Creates a decoder whose table has a size other than the initial one without an update, as in Appendix C.
    init(tableSize: Int) {
        self.init()
        table = DynamicTable(maximumSize: tableSize)
        tableSizeLimit = tableSize
    }

    /// The current size of the dynamic table, in the octets of RFC 7541 §4.1.
    package var tableSize: Int { table.size }
    /// The number of entries in the dynamic table.
    package var tableCount: Int { table.count }

    /// Applies a SETTINGS_HEADER_TABLE_SIZE that the peer has acknowledged.
    package mutating func setTableSizeLimit(_ size: Int) {
        tableSizeLimit = max(size, 0)
        let lowest = min(tableSizeLimit, reduction ?? tableSizeLimit)
        reduction = lowest < table.maximumSize ? lowest : nil
    }

    /// Decodes a block. Throws if the block is malformed or its list exceeds a limit.
    package mutating func decode(_ block: Span<UInt8>) throws(HPACKError) -> HeaderList {
        if let failure { throw failure }
        do throws(HPACKError) {
            var list = HeaderList()
            list.reserve(forBlockOf: block.count, atMost: max(limits.listOctets, 0))
            let refusal = try decode(block, into: &list)
            if let refusal { throw refusal }
            return list
        } catch {
            if !error.keepsTable { failure = error }
            throw error
        }
    }

    /// Decodes a block into `list`. Returns the limit error if the list is refused, and nil otherwise.
    private mutating func decode(
        _ block: Span<UInt8>, into list: inout HeaderList
    ) throws(HPACKError) -> HPACKError? {
        var position = 0
        try applySizeUpdates(block, at: &position)
        var refusal: HPACKError?
        while position < block.count {
            let fieldRefusal = try decodeField(block, at: &position, into: &list, isKept: refusal == nil)
            if refusal == nil, let fieldRefusal {
                refusal = fieldRefusal
                list.removeAll()
            }
        }
        return refusal
    }

    /// Applies the size updates, which precede all fields (RFC 7541 §4.2).
    private mutating func applySizeUpdates(_ block: Span<UInt8>, at position: inout Int) throws(HPACKError) {
        // The pattern 001 (RFC 7541 §6.3).
        while position < block.count, block[position] & 0xE0 == 0x20 {
            let size = try HPACKInteger.decode(block, at: &position, prefix: 5)
            guard size <= tableSizeLimit else {
                throw .sizeUpdateTooLarge(size, allowed: tableSizeLimit)
            }
            // The first update must respect the reduction; a later one may enlarge the table again.
            if let reduction, size > reduction { throw .missingSizeUpdate(allowed: reduction) }
            reduction = nil
            table.resize(to: size)
        }
        if let reduction { throw .missingSizeUpdate(allowed: reduction) }
    }

    /// Decodes one field. Returns the limit error if the field does not fit into the list, and nil otherwise.
    @inline(__always)
    private mutating func decodeField(
        _ block: Span<UInt8>, at position: inout Int, into list: inout HeaderList, isKept: Bool
    ) throws(HPACKError) -> HPACKError? {
        // The highest bits tell the representations apart (RFC 7541 §6): 1 is an index, 01 a literal that is added to the table,
        // 001 a size update, 0001 a literal that must never be added, 0000 one that is not added.
        let first = block[position]
        if first & 0x80 != 0 {
            let entry = try entry(at: HPACKInteger.decode(block, at: &position, prefix: 7))
            guard isKept else { return nil }
            if let refusal = refusal(of: entry.size, in: list) { return refusal }
            list.append(entry)
            return nil
        }
        if first & 0x40 != 0 {
            return try decodeLiteral(block, at: &position, prefix: 6, .incremental, into: &list, isKept)
        }
        if first & 0x20 != 0 { throw .misplacedSizeUpdate }
        let indexing = first & 0x10 != 0 ? HeaderList.Indexing.never : .without
        return try decodeLiteral(block, at: &position, prefix: 4, indexing, into: &list, isKept)
    }

    /// Decodes a literal field (RFC 7541 §6.2), whose index of a name has a prefix of `prefix` bits. Returns the limit error if
    /// the field does not fit into the list, and nil otherwise.
    private mutating func decodeLiteral(
        _ block: Span<UInt8>, at position: inout Int, prefix: Int, _ indexing: HeaderList.Indexing,
        into list: inout HeaderList, _ isKept: Bool
    ) throws(HPACKError) -> HPACKError? {
        let start = list.octets.count
        let index = try HPACKInteger.decode(block, at: &position, prefix: prefix)
        let nameEntry = index == 0 ? nil : try entry(at: index)
        try list.withOctets { octets throws(HPACKError) in
            if let nameEntry {
                octets.append(contentsOf: nameEntry.octets[nameEntry.name])
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
        let longest = max(nameCount, count &- nameCount)
        let refusal =
            longest > limits.stringOctets
            ? HPACKError.limitExceeded(.stringOctets, allowed: limits.stringOctets)
            : refusal(of: TableEntry.overhead &+ count, in: list, octetsBefore: start)
        if isKept, refusal == nil {
            list.appendField(from: start, nameCount: nameCount, indexing: indexing)
        } else {
            list.removeOctets(from: start)
        }
        return refusal
    }

    /// Returns the limit that a field of `size` would exceed in the list; nil if it fits. `octetsBefore` is the number of octets
    /// of the list without the field, if the field's have been appended already.
    private func refusal(of size: Int, in list: HeaderList, octetsBefore: Int? = nil) -> HPACKError? {
        guard list.count < limits.fieldCount else {
            return .limitExceeded(.fieldCount, allowed: limits.fieldCount)
        }
        let taken = (octetsBefore ?? list.octets.count) &+ list.count &* TableEntry.overhead
        guard size <= limits.listOctets &- taken else {
            return .limitExceeded(.listOctets, allowed: limits.listOctets)
        }
        return nil
    }

    /// Returns the entry of either table with an index.
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
