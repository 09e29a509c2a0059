// SPDX-License-Identifier: MIT

/// Where the fields stand that decide how a message is framed and whether its connection lives on, noted by the
/// parser as it passes them so that nobody has to search again.
struct FramingFields: Hashable, Sendable {
    private(set) var contentLength = Occurrences()
    private(set) var transferEncoding = Occurrences()
    private(set) var connection = Occurrences()

    /// How often a field occurs, and where first.
    struct Occurrences: Hashable, Sendable {
        private(set) var first: Int32 = 0
        private(set) var count: Int32 = 0

        fileprivate mutating func add(_ index: Int) {
            if count == 0 { first = Int32(truncatingIfNeeded: index) }
            count &+= 1
        }
    }

    /// Notes the field at `index` if it is one of the three.
    @inline(__always)
    mutating func note(_ entry: Fields.Entry, at index: Int, in bytes: Span<UInt8>) {
        switch entry.tag {
        case .contentLength:
            if bytes.equals(lowercased: "content-length", in: entry.name) { contentLength.add(index) }
        case .connection:
            if bytes.equals(lowercased: "connection", in: entry.name) { connection.add(index) }
        case .transferEncoding:
            if bytes.equals(lowercased: "transfer-encoding", in: entry.name) { transferEncoding.add(index) }
        default: break
        }
    }
}
