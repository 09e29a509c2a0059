// SPDX-License-Identifier: MIT

/// Decodes numbers, texts and octets in the format of `OctetWriter`. The octets are not trusted: the reader throws for missing
/// and invalid values, and reads nothing past the end, whatever length it finds.
struct OctetReader: Sendable {
    /// The error for octets that no `OctetWriter` has written, or that have changed since they were written.
    struct Damage: Error {}

    /// The octets, of which the reader reads a range.
    private let source: [UInt8]
    /// The index of the next octet in `source`.
    private var position: Int
    /// The index after the last octet to read.
    private let end: Int

    /// Creates a reader of the octets in a range, which is clamped to the indexes of `octets`.
    init(_ octets: [UInt8], in range: Range<Int>) {
        source = octets
        let range = range.clamped(to: 0..<octets.count)
        position = range.lowerBound
        end = range.upperBound
    }

    /// Whether all octets have been read.
    var isAtEnd: Bool { position == end }

    /// The number of octets that have not been read.
    var remainingCount: Int { end - position }

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
        let octets = try lengthPrefixedOctets()
        do { return String(copying: try UTF8Span(validating: octets.span)) } catch { throw Damage() }
    }

    /// Reads a text or nil.
    mutating func optionalText() throws(Damage) -> String? { try flag() ? try text() : nil }

    /// Reads a number of this many octets, in little-endian order.
    private mutating func number(octets count: Int) throws(Damage) -> UInt64 {
        guard count <= remainingCount else { throw Damage() }
        // A copy, because the span of `source` would forbid the change of `position`.
        let source = source
        let octets = source.span.extracting(position..<(position + count))
        var number: UInt64 = 0
        for index in octets.indices { number |= UInt64(octets[index]) << UInt64(8 * index) }
        position += count
        return number
    }
}
