// SPDX-License-Identifier: MIT

/// Received octets that have not been consumed: appended at the end, lent as a whole, consumed from the front.
///
/// Consumed octets keep their space until all octets are consumed or `makeRoom` reclaims it.
struct InputBuffer {
    private var octets: [UInt8] = []
    private var start = 0

    /// The number of octets not consumed.
    var count: Int { octets.count - start }

    /// Reclaims consumed space if needed, and returns how many octets can be appended before the buffer exceeds `size`.
    mutating func makeRoom(upTo size: Int) -> Int {
        if octets.count >= size {
            octets.removeFirst(start)
            start = 0
        }
        return max(0, size - octets.count)
    }

    /// Appends octets.
    mutating func append(_ more: Span<UInt8>) { octets.append(more) }

    /// Adds behind what is there what `fill` writes, which has room for `count` octets.
    mutating func append<Failure: Error>(
        upTo count: Int, _ fill: (inout OutputSpan<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        try octets.append(addingCapacity: count) { free throws(Failure) in try fill(&free) }
    }

    /// Lends the octets not consumed.
    func withOctets<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(octets.span.extracting(start...))
    }

    /// Consumes octets from the front.
    mutating func consume(_ count: Int) {
        start += count
        guard start == octets.count else { return }
        start = 0
        octets.removeAll(keepingCapacity: true)
    }
}
