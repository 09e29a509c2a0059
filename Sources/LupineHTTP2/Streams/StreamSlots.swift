// SPDX-License-Identifier: MIT

/// Where in an array each open stream has its place: what a dictionary would do, without hashing an identifier for every frame.
///
/// The identifiers of streams that are open together mostly follow one another, and then each is found at once
/// (`HashedNumbers`). A peer that chooses them otherwise makes a search as long as there are streams, whose number the owner
/// limits. Places are handed out densely, and that of a stream that has gone goes to the next one.
package struct StreamSlots: Sendable {
    private var numbers = HashedNumbers()
    private var vacant: [Int] = []

    /// No streams.
    package init() {}

    /// How many streams there are.
    package var count: Int { numbers.count }

    /// The identifiers of a client's streams are odd: what lies above that bit counts from one to the next.
    @inline(__always)
    private static func key(_ stream: StreamID) -> UInt64 {
        UInt64(stream.rawValue >> 1) | UInt64(stream.rawValue & 1) << 32
    }

    private static func stream(_ key: UInt64) -> StreamID {
        StreamID(UInt32(truncatingIfNeeded: key) << 1 | UInt32(key >> 32))
    }

    /// The place of a stream; nil where it has none.
    package func place(of stream: StreamID) -> Int? { numbers[Self.key(stream)] }

    /// Gives a stream a place, which it does not have yet: one that was given back, or the next one.
    package mutating func insert(_ stream: StreamID) -> Int {
        precondition(!stream.isConnection, "the connection has no place among the streams")
        let place = vacant.popLast() ?? count
        numbers.set(Self.key(stream), place)
        return place
    }

    /// Takes a stream's place away, and returns which it was; nil where it had none.
    package mutating func remove(_ stream: StreamID) -> Int? {
        guard let place = numbers.remove(Self.key(stream)) else { return nil }
        vacant.append(place)
        return place
    }

    /// The streams, in the order of their identifiers.
    package var sorted: [StreamID] { numbers.hashes.map(Self.stream).sorted() }
}
