// SPDX-License-Identifier: MIT

/// A queue of received octets, which are appended at the end, read as a whole, and consumed from the front.
///
/// The space of consumed octets is reused only when all octets are consumed, or after `makeRoom`.
struct InputBuffer {
    /// The octets, including consumed ones.
    private var octets: [UInt8] = []
    /// The index of the first octet that has not been consumed.
    private var start = 0

    /// The number of octets that have not been consumed.
    var count: Int { octets.count - start }

    /// Returns how many octets can be appended until the buffer has `size` octets. Removes consumed octets only if the buffer is
    /// full, because the removal moves the unconsumed octets. Otherwise consumed octets count towards `size`.
    mutating func makeRoom(upTo size: Int) -> Int {
        if octets.count >= size {
            octets.removeFirst(start)
            start = 0
        }
        return max(0, size - octets.count)
    }

    /// Appends octets.
    mutating func append(_ newOctets: Span<UInt8>) { octets.append(newOctets) }

    /// Appends the octets that `fill` writes, at most `count`.
    mutating func append<Failure: Error>(
        upTo count: Int, _ fill: (inout OutputSpan<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        try octets.append(addingCapacity: count) { freeSpace throws(Failure) in try fill(&freeSpace) }
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
