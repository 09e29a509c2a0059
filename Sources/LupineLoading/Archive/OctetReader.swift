// SPDX-License-Identifier: MIT

/// Decodes octets in the format of `OctetWriter`. The octets are not trusted: missing and invalid values throw, and no length
/// makes the reader read past the end.
struct OctetReader: Sendable {
    /// Thrown if the octets were not written by an `OctetWriter`, or have changed since.
    struct Damage: Error {}

    private let source: [UInt8]
    /// The index of the next octet in `source`.
    private var position: Int
    private let end: Int

    /// Creates a reader of the octets in a range.
    init(_ octets: [UInt8], in range: Range<Int>) {
        source = octets
        let range = range.clamped(to: 0..<octets.count)
        position = range.lowerBound
        end = range.upperBound
    }

    /// Whether everything has been read.
    var isAtEnd: Bool { position == end }

    /// The number of octets that were not read yet.
    private var remainingCount: Int { end - position }

    /// Reads one octet.
    mutating func octet() throws(Damage) -> UInt8 {
        guard position < end else { throw Damage() }
        defer { position += 1 }
        return source[position]
    }

    /// Reads a Boolean value.
    mutating func flag() throws(Damage) -> Bool {
        switch try octet() {
        case 0: return false
        case 1: return true
        default: throw Damage()
        }
    }

    /// Reads a 32-bit number.
    mutating func number() throws(Damage) -> UInt32 {
        UInt32(truncatingIfNeeded: try number(octets: 4))
    }

    /// Reads a 64-bit number.
    mutating func longNumber() throws(Damage) -> UInt64 { try number(octets: 8) }

    /// Reads a signed 64-bit number.
    mutating func signedNumber() throws(Damage) -> Int64 { Int64(bitPattern: try number(octets: 8)) }

    /// Reads a finite floating-point number.
    mutating func double() throws(Damage) -> Double {
        let number = Double(bitPattern: try number(octets: 8))
        guard number.isFinite else { throw Damage() }
        return number
    }

    /// Reads this many octets.
    mutating func octets(_ count: Int) throws(Damage) -> ArraySlice<UInt8> {
        guard count >= 0, count <= remainingCount else { throw Damage() }
        defer { position += count }
        return source[position..<(position + count)]
    }

    /// Reads octets preceded by their length.
    mutating func lengthPrefixedOctets() throws(Damage) -> ArraySlice<UInt8> {
        guard let count = Int(exactly: try longNumber()) else { throw Damage() }
        return try octets(count)
    }

    /// Reads a text.
    mutating func text() throws(Damage) -> String {
        guard let text = String(validating: try lengthPrefixedOctets(), as: UTF8.self) else {
            throw Damage()
        }
        return text
    }

    /// Reads an optional text.
    mutating func optionalText() throws(Damage) -> String? { try flag() ? try text() : nil }

    /// Reads a number of this many octets, in little-endian order.
    private mutating func number(octets count: Int) throws(Damage) -> UInt64 {
        var number: UInt64 = 0
        for (index, octet) in try octets(count).enumerated() { number |= UInt64(octet) << (8 * index) }
        return number
    }
}
