// SPDX-License-Identifier: MIT

/// A queue of received octets, which are appended at the end, read as a whole, and consumed from the front.
///
/// The space of consumed octets is reclaimed only when all octets are consumed, or by `makeRoom`.
struct InputBuffer {
    private var octets: [UInt8] = []
    private var start = 0

    /// The number of octets that have not been consumed.
    var count: Int { octets.count - start }

    /// Returns how many octets can be appended without exceeding `size`. The space of consumed octets is reclaimed only if the
    /// buffer is full; until then it counts as used.
    mutating func makeRoom(upTo size: Int) -> Int {
        if octets.count >= size {
            octets.removeFirst(start)
            start = 0
        }
        return max(0, size - octets.count)
    }

    /// Appends octets.
    mutating func append(_ more: Span<UInt8>) { octets.append(more) }

    /// Appends the octets, at most `count`, that `fill` writes.
    mutating func append<Failure: Error>(
        upTo count: Int, _ fill: (inout OutputSpan<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        try octets.append(addingCapacity: count) { free throws(Failure) in try fill(&free) }
    }

    /// Calls `body` with the octets that have not been consumed.
    func withOctets<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(octets.span.extracting(start...))
    }

    /// Removes octets from the front.
    mutating func consume(_ count: Int) {
        start += count
        guard start == octets.count else { return }
        start = 0
        octets.removeAll(keepingCapacity: true)
    }
}
