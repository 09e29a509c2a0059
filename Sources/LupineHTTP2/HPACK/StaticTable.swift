// SPDX-License-Identifier: MIT

/// The static table: RFC 7541, Appendix A. Its first entry has index 1.
enum StaticTable {
    /// The number of entries.
    static let count = 61

    /// Returns the entry with an index; nil if the index is not in this table.
    @inline(__always)
    static func entry(at index: Int) -> TableEntry? {
        index >= 1 && index <= count ? entries[index &- 1] : nil
    }

    /// Returns whether the entry with an index has the given name.
    @inline(__always)
    static func hasName(_ name: Span<UInt8>, at index: Int) -> Bool {
        index >= 1 && index <= count && entries[index &- 1].hasName(name)
    }

    /// Returns whether the entry with an index has the given name and value.
    @inline(__always)
    static func hasField(_ name: Span<UInt8>, _ value: Span<UInt8>, at index: Int) -> Bool {
        hasName(name, at: index) && entries[index &- 1].hasValue(value)
    }

    /// The entries in order; the one at position 0 has index 1.
    static let entries: [TableEntry] = fields.map { name, value in
        TableEntry(octets: Array(name.utf8) + Array(value.utf8), nameCount: name.utf8.count)
    }

    /// Finds the index of an entry by name and value.
    static let fieldIndex: FieldIndex = {
        var fieldIndex = FieldIndex()
        // A later insertion replaces an earlier one: in reverse order, a name gets the index of its first entry.
        for position in entries.indices.reversed() {
            fieldIndex.insert(FieldHash(entries[position]), number: position &+ 1)
        }
        return fieldIndex
    }()

    private static let fields: [(name: String, value: String)] = [
        (":authority", ""),
        (":method", "GET"),
        (":method", "POST"),
        (":path", "/"),
        (":path", "/index.html"),
        (":scheme", "http"),
        (":scheme", "https"),
        (":status", "200"),
        (":status", "204"),
        (":status", "206"),
        (":status", "304"),
        (":status", "400"),
        (":status", "404"),
        (":status", "500"),
        ("accept-charset", ""),
        ("accept-encoding", "gzip, deflate"),
        ("accept-language", ""),
        ("accept-ranges", ""),
        ("accept", ""),
        ("access-control-allow-origin", ""),
        ("age", ""),
        ("allow", ""),
        ("authorization", ""),
        ("cache-control", ""),
        ("content-disposition", ""),
        ("content-encoding", ""),
        ("content-language", ""),
        ("content-length", ""),
        ("content-location", ""),
        ("content-range", ""),
        ("content-type", ""),
        ("cookie", ""),
        ("date", ""),
        ("etag", ""),
        ("expect", ""),
        ("expires", ""),
        ("from", ""),
        ("host", ""),
        ("if-match", ""),
        ("if-modified-since", ""),
        ("if-none-match", ""),
        ("if-range", ""),
        ("if-unmodified-since", ""),
        ("last-modified", ""),
        ("link", ""),
        ("location", ""),
        ("max-forwards", ""),
        ("proxy-authenticate", ""),
        ("proxy-authorization", ""),
        ("range", ""),
        ("referer", ""),
        ("refresh", ""),
        ("retry-after", ""),
        ("server", ""),
        ("set-cookie", ""),
        ("strict-transport-security", ""),
        ("transfer-encoding", ""),
        ("user-agent", ""),
        ("vary", ""),
        ("via", ""),
        ("www-authenticate", ""),
    ]
}
