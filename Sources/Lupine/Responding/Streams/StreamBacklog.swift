// SPDX-License-Identifier: MIT

/// Counts the bytes of a stream that wait for its handlers, and decides whether there are too many. Bytes that wait for several
/// handlers count once for each. A value, which the request keeps under its lock.
struct StreamBacklog {
    /// The backlog is full when more bytes than this are waiting.
    static let highWater = 256 * 1024
    /// A full backlog remains full until no more bytes than this are waiting.
    static let lowWater = 64 * 1024
    /// The maximum number of pieces of content that may wait without filling the backlog, however small they are.
    private static let maximumPieces = 64

    /// Returns the number of bytes for which a piece of `bytes` bytes counts; 0 for an empty piece.
    static func weight(of bytes: Int) -> Int { bytes == 0 ? 0 : max(bytes, highWater / maximumPieces) }

    /// The number of bytes that wait.
    private(set) var count = 0
    /// Whether the request has to hold the transfer.
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
