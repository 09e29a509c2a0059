// SPDX-License-Identifier: MIT

/// A name and a value in a table: one array, the name first.
struct TableEntry: Hashable, Sendable {
    let octets: [UInt8]
    let nameCount: Int

    /// What stands where no entry is.
    static let empty = TableEntry(octets: [], nameCount: 0)

    /// What the entry counts for in a table or list: its octets and 32 more (RFC 7541 §4.1).
    @inline(__always)
    var size: Int { octets.count &+ Self.overhead }
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
