// SPDX-License-Identifier: MIT

/// Maps each open stream to its index in an array, like a dictionary, but without hashing an identifier for every frame.
///
/// The identifiers of concurrently open streams are mostly consecutive, and a look-up in `HashedNumbers` then takes one step. A
/// peer that chooses other identifiers can make a look-up take as many steps as there are streams; the owner limits their number.
/// Indices are dense, and that of a removed stream is reused for the next one.
package struct StreamSlots: Sendable {
    private var numbers = HashedNumbers()
    private var vacant: [Int] = []

    /// Creates an empty map.
    package init() {}

    /// The number of streams.
    package var count: Int { numbers.count }

    /// Returns the key of a stream. A client's identifiers are odd: without the lowest bit, which moves to bit 32, they are
    /// consecutive.
    @inline(__always)
    private static func key(_ stream: StreamID) -> UInt64 {
        UInt64(stream.rawValue >> 1) | UInt64(stream.rawValue & 1) << 32
    }

    /// Returns the stream of a key.
    private static func stream(_ key: UInt64) -> StreamID {
        StreamID(UInt32(truncatingIfNeeded: key) << 1 | UInt32(key >> 32))
    }

    /// Returns the index of a stream; nil if it has none.
    package func index(of stream: StreamID) -> Int? { numbers[Self.key(stream)] }

    /// Assigns an index to a stream that has none: a free index, or else the next one.
    package mutating func insert(_ stream: StreamID) -> Int {
        precondition(!stream.isConnection, "the connection has no place among the streams")
        let index = vacant.popLast() ?? count
        numbers.set(Self.key(stream), index)
        return index
    }

    /// Frees and returns the index of a stream; nil if it has none.
    package mutating func remove(_ stream: StreamID) -> Int? {
        guard let index = numbers.remove(Self.key(stream)) else { return nil }
        vacant.append(index)
        return index
    }

    /// The streams, in the order of their identifiers.
    package var sorted: [StreamID] { numbers.hashes.map(Self.stream).sorted() }
}
