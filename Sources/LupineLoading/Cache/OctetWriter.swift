// SPDX-License-Identifier: MIT

internal import LupineHTTP

/// Numbers, texts and runs of octets one behind the other, as `OctetReader` reads them: numbers with their least octet
/// first, runs with their length in front.
struct OctetWriter: Sendable {
    /// What was written.
    private(set) var octets: [UInt8] = []

    /// How many octets there are.
    var count: Int { octets.count }

    /// Nothing yet, with room for about so many octets.
    init(room: Int = 256) { octets.reserveCapacity(room) }

    /// One octet.
    mutating func write(octet: UInt8) { octets.append(octet) }

    /// Yes or no.
    mutating func write(_ flag: Bool) { octets.append(flag ? 1 : 0) }

    /// A number in four octets.
    mutating func write(_ number: UInt32) { write(number, octets: 4) }

    /// A number in eight octets.
    mutating func write(_ number: UInt64) { write(number, octets: 8) }

    /// A number in eight octets.
    mutating func write(_ number: Int64) { write(UInt64(bitPattern: number)) }

    /// A number in eight octets, exactly.
    mutating func write(_ number: Double) { write(number.bitPattern) }

    /// Octets without their length.
    mutating func write(raw run: some Sequence<UInt8>) { octets.append(contentsOf: run) }

    /// Octets, their length in front.
    mutating func write(run: some Collection<UInt8>) {
        write(UInt64(run.count))
        octets.append(contentsOf: run)
    }

    /// Octets, their length in front.
    mutating func write(run: Span<UInt8>) {
        write(UInt64(run.count))
        octets.append(run, run.indices)
    }

    /// A text.
    mutating func write(_ text: String) {
        let run = text.utf8.span
        write(run: run)
    }

    /// Octets without their length.
    mutating func write(raw run: Span<UInt8>) { octets.append(run, run.indices) }

    /// Takes back what was written from there on.
    mutating func remove(from place: Int) { octets.removeSubrange(place...) }

    /// A text or none.
    mutating func write(_ text: String?) {
        write(text != nil)
        if let text { write(text) }
    }

    /// Puts a number in the place of one of its size that was written before.
    mutating func replace(at place: Int, with number: some FixedWidthInteger) {
        for index in 0..<(number.bitWidth / 8) {
            octets[place + index] = UInt8(truncatingIfNeeded: number >> (8 * index))
        }
    }

    private mutating func write(_ number: some FixedWidthInteger, octets count: Int) {
        let run = InlineArray<8, UInt8> { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        octets.append(run.span, 0..<count)
    }
}
