// SPDX-License-Identifier: MIT

/// Reads what an `OctetWriter` wrote, from octets that may have become anything since: what is not there, or cannot be what
/// is asked for, throws, and no length is believed that goes over the end.
struct OctetReader: Sendable {
    /// What is read is not what was written.
    struct Damage: Error {}

    private let octets: [UInt8]
    private var place: Int
    private let end: Int

    /// A reader of part of the octets.
    init(_ octets: [UInt8], in range: Range<Int>) {
        self.octets = octets
        let range = range.clamped(to: 0..<octets.count)
        place = range.lowerBound
        end = range.upperBound
    }

    /// Whether everything has been read.
    var isAtEnd: Bool { place == end }

    /// How many octets there are still.
    var rest: Int { end - place }

    /// One octet.
    mutating func octet() throws(Damage) -> UInt8 {
        guard place < end else { throw Damage() }
        defer { place += 1 }
        return octets[place]
    }

    /// Yes or no.
    mutating func flag() throws(Damage) -> Bool {
        switch try octet() {
        case 0: return false
        case 1: return true
        default: throw Damage()
        }
    }

    /// A number in four octets.
    mutating func number() throws(Damage) -> UInt32 {
        UInt32(truncatingIfNeeded: try number(octets: 4))
    }

    /// A number in eight octets.
    mutating func longNumber() throws(Damage) -> UInt64 { try number(octets: 8) }

    /// A number in eight octets that has a sign.
    mutating func signedNumber() throws(Damage) -> Int64 { Int64(bitPattern: try number(octets: 8)) }

    /// A number in eight octets that need not be whole, but is one.
    mutating func double() throws(Damage) -> Double {
        let number = Double(bitPattern: try number(octets: 8))
        guard number.isFinite else { throw Damage() }
        return number
    }

    /// So many octets.
    mutating func raw(_ count: Int) throws(Damage) -> ArraySlice<UInt8> {
        guard count >= 0, count <= rest else { throw Damage() }
        defer { place += count }
        return octets[place..<(place + count)]
    }

    /// Octets that have their length in front.
    mutating func run() throws(Damage) -> ArraySlice<UInt8> {
        guard let count = Int(exactly: try longNumber()) else { throw Damage() }
        return try raw(count)
    }

    /// A text.
    mutating func text() throws(Damage) -> String {
        guard let text = String(validating: try run(), as: UTF8.self) else { throw Damage() }
        return text
    }

    /// A text or none.
    mutating func optionalText() throws(Damage) -> String? { try flag() ? try text() : nil }

    private mutating func number(octets count: Int) throws(Damage) -> UInt64 {
        var number: UInt64 = 0
        for (index, octet) in try raw(count).enumerated() { number |= UInt64(octet) << (8 * index) }
        return number
    }
}
