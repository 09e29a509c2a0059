// SPDX-License-Identifier: MIT

/// An entry of the static or a dynamic table: a name and a value, stored in one array with the name first.
struct TableEntry: Hashable, Sendable {
    /// The octets of the name, followed by those of the value.
    let octets: [UInt8]
    /// The number of octets of the name.
    let nameCount: Int

    /// The placeholder in slots of a dynamic table's ring that have no entry.
    static let empty = TableEntry(octets: [], nameCount: 0)

    /// The size of the entry in a table or list: its octets and 32 more (RFC 7541 §4.1).
    @inline(__always)
    var size: Int { octets.count &+ Self.overhead }
    /// The octets that each entry counts for in addition to its own.
    static let overhead = 32

    /// The range of the name in `octets`.
    var nameRange: Range<Int> { 0..<nameCount }
    /// The range of the value in `octets`.
    var valueRange: Range<Int> { nameCount..<octets.count }

    func hasName(_ other: Span<UInt8>) -> Bool {
        other.count == nameCount && isSame(other, at: 0)
    }

    func hasValue(_ other: Span<UInt8>) -> Bool {
        other.count == octets.count &- nameCount && isSame(other, at: nameCount)
    }

    /// Returns whether the octets from `start` on are those of `other`; the caller has checked that there are as many.
    private func isSame(_ other: Span<UInt8>, at start: Int) -> Bool {
        octets.span.extracting(start..<(start &+ other.count)).isSame(as: other)
    }
}
