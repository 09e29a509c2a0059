// SPDX-License-Identifier: MIT

/// Decodes what an `OctetWriter` wrote, from octets that are not trusted: throws on missing or invalid values, and never reads
/// past the end, whatever a length says.
struct OctetReader: Sendable {
    /// Thrown when the octets cannot be what was written.
    struct Damage: Error {}

    private let octets: [UInt8]
    private var place: Int
    private let end: Int

    /// Creates a reader of a part of the octets.
    init(_ octets: [UInt8], in range: Range<Int>) {
        self.octets = octets
        let range = range.clamped(to: 0..<octets.count)
        place = range.lowerBound
        end = range.upperBound
    }

    /// Whether everything has been read.
    var isAtEnd: Bool { place == end }

    /// The number of octets left.
    var rest: Int { end - place }

    /// Reads one octet.
    mutating func octet() throws(Damage) -> UInt8 {
        guard place < end else { throw Damage() }
        defer { place += 1 }
        return octets[place]
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
    mutating func raw(_ count: Int) throws(Damage) -> ArraySlice<UInt8> {
        guard count >= 0, count <= rest else { throw Damage() }
        defer { place += count }
        return octets[place..<(place + count)]
    }

    /// Reads octets preceded by their length.
    mutating func run() throws(Damage) -> ArraySlice<UInt8> {
        guard let count = Int(exactly: try longNumber()) else { throw Damage() }
        return try raw(count)
    }

    /// Reads a text.
    mutating func text() throws(Damage) -> String {
        guard let text = String(validating: try run(), as: UTF8.self) else { throw Damage() }
        return text
    }

    /// Reads an optional text.
    mutating func optionalText() throws(Damage) -> String? { try flag() ? try text() : nil }

    private mutating func number(octets count: Int) throws(Damage) -> UInt64 {
        var number: UInt64 = 0
        for (index, octet) in try raw(count).enumerated() { number |= UInt64(octet) << (8 * index) }
        return number
    }
}
