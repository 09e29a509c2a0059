// SPDX-License-Identifier: MIT

/// Encodes numbers, texts and octets for `OctetReader`: numbers in little-endian order, octets preceded by their length.
///
/// The buffer is filled with zeros in advance: most values are short, and are copied into it without a call.
struct OctetWriter: Sendable {
    private var room: [UInt8]
    /// How many octets were written.
    private(set) var count = 0

    /// Creates a writer with capacity for about this many octets.
    init(room count: Int = 256) { room = [UInt8](repeating: 0, count: max(64, count)) }

    /// The written octets.
    var octets: [UInt8] { Array(room[..<count]) }

    /// Calls `body` with the octets written since `start`.
    func withOctets<Result>(from start: Int, _ body: (Span<UInt8>) -> Result) -> Result {
        body(room.span.extracting(start..<count))
    }

    /// Writes one octet.
    mutating func write(octet: UInt8) {
        makeRoom(for: 1)
        room[count] = octet
        count += 1
    }

    /// Writes a Boolean value.
    mutating func write(_ flag: Bool) { write(octet: flag ? 1 : 0) }

    /// Writes a 32-bit number.
    mutating func write(_ number: UInt32) { write(number: number) }

    /// Writes a 64-bit number.
    mutating func write(_ number: UInt64) { write(number: number) }

    /// Writes a signed 64-bit number.
    mutating func write(_ number: Int64) { write(number: UInt64(bitPattern: number)) }

    /// Writes the exact bit pattern of a floating-point number.
    mutating func write(_ number: Double) { write(number: number.bitPattern) }

    /// Writes octets without their length.
    mutating func write(raw run: [UInt8]) { write(raw: run.span) }

    /// Writes octets without their length.
    mutating func write(raw run: Span<UInt8>) {
        makeRoom(for: run.count)
        let places = count..<(count + run.count)
        var octets = room.mutableSpan
        var free = octets._mutatingExtracting(places)
        // Two spans of equal length, which lets the compiler vectorize the loop.
        for index in 0..<min(free.count, run.count) { free[index] = run[index] }
        count = places.upperBound
    }

    /// Writes octets preceded by their length.
    mutating func write(run: [UInt8]) { write(run: run.span) }

    /// Writes octets preceded by their length.
    mutating func write(run: Span<UInt8>) {
        write(UInt64(run.count))
        write(raw: run)
    }

    /// Writes a text.
    mutating func write(_ text: String) {
        let run = text.utf8.span
        write(run: run)
    }

    /// Writes an optional text.
    mutating func write(_ text: String?) {
        write(text != nil)
        if let text { write(text) }
    }

    /// Overwrites a number of the same size that was written before.
    mutating func replace(at place: Int, with number: some FixedWidthInteger) {
        let size = number.bitWidth / 8
        var octets = room.mutableSpan
        // Checked once for all octets of the number.
        var places = octets._mutatingExtracting(place..<(place + size))
        for index in 0..<min(size, places.count) {
            places[index] = UInt8(truncatingIfNeeded: number >> (8 * index))
        }
    }

    /// Drops everything written since `place`.
    mutating func remove(from place: Int) { count = place }

    private mutating func write(number: some FixedWidthInteger) {
        let size = number.bitWidth / 8
        makeRoom(for: size)
        count += size
        replace(at: count - size, with: number)
    }

    /// The buffer doubles, but grows by no more than this beyond what is needed.
    private static let longestStep = 1 << 20

    private mutating func makeRoom(for added: Int) {
        if room.count - count >= added { return }
        room.append(contentsOf: repeatElement(0, count: max(added, min(room.count, Self.longestStep))))
    }
}
