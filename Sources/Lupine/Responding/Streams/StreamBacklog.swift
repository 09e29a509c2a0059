// SPDX-License-Identifier: MIT

/// Counts the bytes of a stream that wait for its handlers, once per handler, and decides whether there are too many. A value;
/// the request keeps it under its lock.
struct StreamBacklog {
    /// The backlog is full when more bytes than this are waiting.
    static let highWater = 256 * 1024
    /// A full backlog remains full until no more bytes than this are waiting.
    static let lowWater = 64 * 1024
    /// The maximum number of pieces that wait, however small they are.
    private static let mostPieces = 64

    /// Returns the weight of a piece of `bytes` bytes; an empty piece has none.
    static func weight(of bytes: Int) -> Int { bytes == 0 ? 0 : max(bytes, highWater / mostPieces) }

    private(set) var count = 0
    /// Whether the transfer should be held.
    private(set) var isFull = false

    /// Adds bytes that wait for a handler.
    mutating func add(_ bytes: Int) {
        count += bytes
        if count > Self.highWater { isFull = true }
    }

    /// Removes bytes that a handler has processed.
    mutating func remove(_ bytes: Int) {
        count -= bytes
        if count <= Self.lowWater { isFull = false }
    }
}
