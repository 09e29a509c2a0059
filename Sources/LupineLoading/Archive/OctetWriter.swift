// SPDX-License-Identifier: MIT

internal import LupineTransport

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
        insert(octets)
    }

    /// Copies octets into the buffer, which must be large enough for them.
    private mutating func insert(_ octets: Span<UInt8>) {
        let start = count
        var bufferSpan = buffer.mutableSpan
        bufferSpan.copy(octets, to: start)
        count = start + octets.count
    }

    /// Writes octets preceded by their length.
    mutating func write(lengthPrefixed octets: [UInt8]) { write(lengthPrefixed: octets.span) }

    /// Writes octets preceded by their length.
    mutating func write(lengthPrefixed octets: Span<UInt8>) {
        reserve(8 + octets.count)
        count += 8
        replace(at: count - 8, with: UInt64(octets.count))
        insert(octets)
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
