// SPDX-License-Identifier: MIT

/// The positions of the fields that determine a message's framing and whether its connection is reused. The parser records them,
/// which saves a search for each name.
struct FramingFieldPositions: Hashable, Sendable {
    private(set) var contentLength = Occurrences()
    private(set) var transferEncoding = Occurrences()
    private(set) var connection = Occurrences()

    /// The number of fields with a name, and the position of the first.
    struct Occurrences: Hashable, Sendable {
        private(set) var first: Int32 = 0
        private(set) var count: Int32 = 0

        fileprivate mutating func add(_ index: Int) {
            if count == 0 { first = Int32(truncatingIfNeeded: index) }
            count &+= 1
        }
    }

    /// Records the field at `index` if it is one of the three.
    @inline(__always)
    mutating func record(_ entry: Fields.Entry, at index: Int, in bytes: Span<UInt8>) {
        switch entry.tag {
        case .contentLength, .connection, .transferEncoding: recordCandidate(entry, at: index, in: bytes)
        default: break
        }
    }

    /// Records a field whose tag equals that of one of the three, if its name does too.
    @inline(never)
    private mutating func recordCandidate(_ entry: Fields.Entry, at index: Int, in bytes: Span<UInt8>) {
        let start = entry.name.lowerBound
        let end = entry.name.upperBound
        switch end &- start {
        case 14:
            if OctetScan.isToken(bytes, start, end, first: Self.content, last: Self.tLength) {
                contentLength.add(index)
            }
        case 10:
            if OctetScan.isToken(bytes, start, end, first: Self.connecti, last: Self.nnection) {
                connection.add(index)
            }
        case 17:
            if bytes.equals(lowercased: "transfer-encoding", in: entry.name) { transferEncoding.add(index) }
        default: break
        }
    }

    // The first and last eight letters of "content-length" and "connection", the first letter in the lowest byte.
    private static let content: UInt64 = 0x2D74_6E65_746E_6F63
    private static let tLength: UInt64 = 0x6874_676E_656C_2D74
    private static let connecti: UInt64 = 0x6974_6365_6E6E_6F63
    private static let nnection: UInt64 = 0x6E6F_6974_6365_6E6E
}
