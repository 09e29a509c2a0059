// SPDX-License-Identifier: MIT

/// Numbers, texts and runs of octets one behind the other, as `OctetReader` reads them: numbers with their least octet
/// first, runs with their length in front.
///
/// Its room is filled before it is written to: most of what is written is short, and is copied there without a call.
struct OctetWriter: Sendable {
    private var room: [UInt8]
    /// How many octets were written.
    private(set) var count = 0

    /// Nothing yet, with room for about so many octets.
    init(room count: Int = 256) { room = [UInt8](repeating: 0, count: max(64, count)) }

    /// What was written.
    var octets: [UInt8] { Array(room[..<count]) }

    /// Lends what was written from a place on.
    func withOctets<Result>(from start: Int, _ body: (Span<UInt8>) -> Result) -> Result {
        body(room.span.extracting(start..<count))
    }

    /// One octet.
    mutating func write(octet: UInt8) {
        makeRoom(for: 1)
        room[count] = octet
        count += 1
    }

    /// Yes or no.
    mutating func write(_ flag: Bool) { write(octet: flag ? 1 : 0) }

    /// A number in four octets.
    mutating func write(_ number: UInt32) { write(number: number) }

    /// A number in eight octets.
    mutating func write(_ number: UInt64) { write(number: number) }

    /// A number in eight octets.
    mutating func write(_ number: Int64) { write(number: UInt64(bitPattern: number)) }

    /// A number in eight octets, exactly.
    mutating func write(_ number: Double) { write(number: number.bitPattern) }

    /// Octets without their length.
    mutating func write(raw run: [UInt8]) { write(raw: run.span) }

    /// Octets without their length.
    mutating func write(raw run: Span<UInt8>) {
        makeRoom(for: run.count)
        let places = count..<(count + run.count)
        var octets = room.mutableSpan
        var free = octets._mutatingExtracting(places)
        // Two spans of one length: the compiler copies many at a time.
        for index in 0..<min(free.count, run.count) { free[index] = run[index] }
        count = places.upperBound
    }

    /// Octets, their length in front.
    mutating func write(run: [UInt8]) { write(run: run.span) }

    /// Octets, their length in front.
    mutating func write(run: Span<UInt8>) {
        write(UInt64(run.count))
        write(raw: run)
    }

    /// A text.
    mutating func write(_ text: String) {
        let run = text.utf8.span
        write(run: run)
    }

    /// A text or none.
    mutating func write(_ text: String?) {
        write(text != nil)
        if let text { write(text) }
    }

    /// Puts a number in the place of one of its size that was written before.
    mutating func replace(at place: Int, with number: some FixedWidthInteger) {
        for index in 0..<(number.bitWidth / 8) {
            room[place + index] = UInt8(truncatingIfNeeded: number >> (8 * index))
        }
    }

    /// Takes back what was written from there on.
    mutating func remove(from place: Int) { count = place }

    private mutating func write(number: some FixedWidthInteger) {
        let size = number.bitWidth / 8
        makeRoom(for: size)
        count += size
        replace(at: count - size, with: number)
    }

    /// Room doubles, but not by more than this.
    private static let longestStep = 1 << 20

    private mutating func makeRoom(for added: Int) {
        if room.count - count >= added { return }
        room.append(contentsOf: repeatElement(0, count: max(added, min(room.count, Self.longestStep))))
    }
}
