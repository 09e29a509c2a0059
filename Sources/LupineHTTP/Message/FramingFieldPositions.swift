// SPDX-License-Identifier: MIT

/// The positions, in the list of fields, of those that determine the framing of a message and whether its connection may be
/// reused.
///
/// The parser records them while it scans a head, so that they need not be searched for afterwards.
struct FramingFieldPositions: Hashable, Sendable {
    private(set) var contentLength = Occurrences()
    private(set) var transferEncoding = Occurrences()
    private(set) var connection = Occurrences()

    /// The number of fields with one name, and the position of the first of them.
    struct Occurrences: Hashable, Sendable {
        /// The position of the first field; meaningful only if `count` is not 0.
        private(set) var first: Int32 = 0
        private(set) var count: Int32 = 0

        fileprivate mutating func add(_ index: Int) {
            if count == 0 { first = Int32(truncatingIfNeeded: index) }
            count &+= 1
        }
    }

    /// Records the field at position `index` of the list if it has one of the three names. `bytes` contain its name. Different
    /// names may have the same tag, so a field with the tag of one of the three is only a candidate.
    @inline(__always)
    mutating func record(_ entry: Fields.Entry, at index: Int, in bytes: Span<UInt8>) {
        switch entry.tag {
        case .contentLength, .connection, .transferEncoding: recordCandidate(entry, at: index, in: bytes)
        default: break
        }
    }

    /// Records a candidate if it has the name, too. The function is not inlined, which keeps `record` small: few fields are
    /// candidates.
    @inline(never)
    private mutating func recordCandidate(_ entry: Fields.Entry, at index: Int, in bytes: Span<UInt8>) {
        let start = entry.name.lowerBound
        let end = entry.name.upperBound
        // The three names have different lengths.
        switch end &- start {
        case 14:
            if OctetScan.isToken(
                bytes, start, end, first: Self.contentLengthStart, last: Self.contentLengthEnd)
            {
                contentLength.add(index)
            }
        case 10:
            if OctetScan.isToken(bytes, start, end, first: Self.connectionStart, last: Self.connectionEnd) {
                connection.add(index)
            }
        case 17:
            // The name is longer than the two words that `isToken` compares.
            if bytes.equals(lowercased: "transfer-encoding", in: entry.name) { transferEncoding.add(index) }
        default: break
        }
    }

    // The first and last eight octets of "content-length" and of "connection" as words, the first octet in the lowest byte:
    // "content-", "t-length", "connecti" and "nnection".
    private static let contentLengthStart: UInt64 = 0x2D74_6E65_746E_6F63
    private static let contentLengthEnd: UInt64 = 0x6874_676E_656C_2D74
    private static let connectionStart: UInt64 = 0x6974_6365_6E6E_6F63
    private static let connectionEnd: UInt64 = 0x6E6F_6974_6365_6E6E
}
