// SPDX-License-Identifier: MIT

/// Encodes numbers, texts and octets for `OctetReader`: numbers in little-endian order, octets preceded by their length.
///
/// The buffer is longer than its contents, and its end is filled with zeros. Most values are short: copying them into the buffer
/// is faster than calling `append`.
struct OctetWriter: Sendable {
    /// The written octets, followed by unused ones.
    private var buffer: [UInt8]
    /// The number of written octets.
    private(set) var count = 0

    /// Creates a writer with capacity for about this many octets.
    init(capacity: Int = 256) { buffer = [UInt8](repeating: 0, count: max(64, capacity)) }

    /// The written octets.
    var octets: [UInt8] { Array(buffer[..<count]) }

    /// Calls `body` with the written octets from index `start` on.
    func withOctets<Result>(from start: Int, _ body: (Span<UInt8>) -> Result) -> Result {
        body(buffer.span.extracting(start..<count))
    }

    /// Writes one octet.
    mutating func write(octet: UInt8) {
        reserve(1)
        buffer[count] = octet
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
    mutating func write(octets: [UInt8]) { write(octets: octets.span) }

    /// Writes octets without their length.
    mutating func write(octets: Span<UInt8>) {
        reserve(octets.count)
        let range = count..<(count + octets.count)
        var bufferSpan = buffer.mutableSpan
        var target = bufferSpan._mutatingExtracting(range)
        // Indexing two spans of equal length lets the compiler vectorize the loop. `min` shows it that no index is invalid.
        for index in 0..<min(target.count, octets.count) { target[index] = octets[index] }
        count = range.upperBound
    }

    /// Writes octets preceded by their length.
    mutating func write(lengthPrefixed octets: [UInt8]) { write(lengthPrefixed: octets.span) }

    /// Writes octets preceded by their length.
    mutating func write(lengthPrefixed octets: Span<UInt8>) {
        write(UInt64(octets.count))
        write(octets: octets)
    }

    /// Writes a text.
    mutating func write(_ text: String) {
        let octets = text.utf8.span
        write(lengthPrefixed: octets)
    }

    /// Writes a text or nil.
    mutating func write(_ text: String?) {
        write(text != nil)
        if let text { write(text) }
    }

    /// Overwrites a number of the same size, whose first octet is at `position`.
    mutating func replace(at position: Int, with number: some FixedWidthInteger) {
        let size = number.bitWidth / 8
        var bufferSpan = buffer.mutableSpan
        // The bounds are checked once, here, for all octets of the number.
        var destination = bufferSpan._mutatingExtracting(position..<(position + size))
        for index in 0..<min(size, destination.count) {
            destination[index] = UInt8(truncatingIfNeeded: number >> (8 * index))
        }
    }

    /// Removes the octets from index `start` on.
    mutating func remove(from start: Int) { count = start }

    /// Writes a number in little-endian order.
    private mutating func write(number: some FixedWidthInteger) {
        let size = number.bitWidth / 8
        reserve(size)
        // `replace` writes into the octets that were counted here.
        count += size
        replace(at: count - size, with: number)
    }

    /// The most octets by which a full buffer grows, unless a longer value is written. A smaller buffer doubles its size.
    private static let maxGrowth = 1 << 20

    /// Makes the buffer large enough for this many more octets.
    private mutating func reserve(_ added: Int) {
        if buffer.count - count >= added { return }
        buffer.append(contentsOf: repeatElement(0, count: max(added, min(buffer.count, Self.maxGrowth))))
    }
}
