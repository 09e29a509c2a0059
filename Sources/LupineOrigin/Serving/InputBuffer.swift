// SPDX-License-Identifier: MIT

/// Received octets that nobody has taken yet: added behind, lent as a whole, taken from the front.
///
/// A value. What was taken leaves its room behind until everything has been, or until `makeRoom` is asked for it.
struct InputBuffer {
    private var octets: [UInt8] = []
    private var start = 0

    /// How many octets nobody has taken.
    var count: Int { octets.count - start }

    /// Has room made behind what is there, so that the buffer does not grow over `size`. How much there is.
    mutating func makeRoom(upTo size: Int) -> Int {
        if octets.count >= size {
            octets.removeFirst(start)
            start = 0
        }
        return max(0, size - octets.count)
    }

    /// Adds octets behind what is there.
    mutating func append(_ more: Span<UInt8>) { octets.append(more) }

    /// Adds behind what is there what `fill` writes, which has room for `count` octets.
    mutating func append<Failure: Error>(
        upTo count: Int, _ fill: (inout OutputSpan<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        try octets.append(addingCapacity: count) { free throws(Failure) in try fill(&free) }
    }

    /// Lends what nobody has taken.
    func withOctets<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(octets.span.extracting(start...))
    }

    /// Takes octets from the front.
    mutating func consume(_ count: Int) {
        start += count
        guard start == octets.count else { return }
        start = 0
        octets.removeAll(keepingCapacity: true)
    }
}
