// SPDX-License-Identifier: MIT

/// An entry of a table: a name and a value, stored in one array with the name first.
struct TableEntry: Hashable, Sendable {
    let octets: [UInt8]
    let nameCount: Int

    /// The placeholder in slots without an entry.
    static let empty = TableEntry(octets: [], nameCount: 0)

    /// The size of the entry in a table or list: its octets and 32 more (RFC 7541 §4.1).
    @inline(__always)
    var size: Int { octets.count &+ Self.overhead }
    /// The octets that each entry counts for in addition to its own.
    static let overhead = 32

    var name: Range<Int> { 0..<nameCount }
    var value: Range<Int> { nameCount..<octets.count }

    func hasName(_ other: Span<UInt8>) -> Bool {
        other.count == nameCount && isSame(other, at: 0)
    }

    func hasValue(_ other: Span<UInt8>) -> Bool {
        other.count == octets.count &- nameCount && isSame(other, at: nameCount)
    }

    private func isSame(_ other: Span<UInt8>, at start: Int) -> Bool {
        octets.span.extracting(start..<(start &+ other.count)).isSame(as: other)
    }
}
