// SPDX-License-Identifier: MIT

/// Assigns to each open stream an index in an array of the owner. It is like a dictionary, but does not hash an identifier for
/// every frame.
///
/// The identifiers of concurrently open streams are mostly consecutive: a look-up in `NumbersByHash` then ends at the first slot.
/// A peer that chooses other identifiers can make a look-up visit as many slots as there are streams. The owner limits the number
/// of streams.
/// A new stream gets the index of a removed one if there is any. The array therefore needs no more elements than the largest
/// number of streams that have been open at the same time.
package struct StreamSlots: Sendable {
    /// The index of each stream, by its key.
    private var indices = NumbersByHash()
    /// The indices of removed streams that no other stream has.
    private var freeIndices: [Int] = []

    /// Creates an empty map.
    package init() {}

    /// The number of streams.
    package var count: Int { indices.count }

    /// Returns the key of a stream in `indices`. A client's identifiers are odd: without the lowest bit, which moves to bit 32,
    /// they are consecutive.
    @inline(__always)
    private static func key(_ stream: StreamID) -> UInt64 {
        UInt64(stream.rawValue >> 1) | UInt64(stream.rawValue & 1) << 32
    }

    /// Returns the stream whose key this is.
    private static func stream(_ key: UInt64) -> StreamID {
        StreamID(UInt32(truncatingIfNeeded: key) << 1 | UInt32(key >> 32))
    }

    /// Returns the index of a stream; nil if it has none.
    package func index(of stream: StreamID) -> Int? { indices[Self.key(stream)] }

    /// Assigns an index to a stream that has none: a free index, or else the next one.
    package mutating func insert(_ stream: StreamID) -> Int {
        precondition(!stream.isConnection, "the connection has no place among the streams")
        // If no index is free, those below `count` are all in use.
        let index = freeIndices.popLast() ?? count
        indices.set(index, for: Self.key(stream))
        return index
    }

    /// Frees and returns the index of a stream; nil if it has none.
    package mutating func remove(_ stream: StreamID) -> Int? {
        guard let index = indices.remove(Self.key(stream)) else { return nil }
        freeIndices.append(index)
        return index
    }

    /// The streams, in the order of their identifiers.
    package var sorted: [StreamID] { indices.hashes.map(Self.stream).sorted() }
}
