// SPDX-License-Identifier: MIT

/// Counts the bytes of a stream that wait for its handlers, and decides whether there are too many. Bytes that wait for several
/// handlers count once for each of them. The request guards the backlog with its lock.
struct StreamBacklog {
    /// The backlog becomes full when more bytes than this wait.
    static let highWater = 256 * 1024
    /// A full backlog remains full until no more bytes than this wait.
    static let lowWater = 64 * 1024
    /// The number of pieces of content that may wait without filling the backlog, even if each is very small.
    private static let maximumPieces = 64

    /// Returns the number of bytes that the backlog counts for a piece of `bytes` bytes; 0 for an empty piece. A small piece
    /// counts for more than its bytes, because it takes memory and time apart from its content.
    static func weight(of bytes: Int) -> Int { bytes == 0 ? 0 : max(bytes, highWater / maximumPieces) }

    /// The sum of the weights of the bytes that wait.
    private(set) var count = 0
    /// Whether too many bytes wait, so that the request has to pause the transfer.
    private(set) var isFull = false

    /// Adds bytes that wait for a handler.
    ///
    /// - Parameter weight: The number of bytes for which they count. The caller chooses it: `weight(of:)` for a piece of content.
    mutating func add(_ weight: Int) {
        count += weight
        if count > Self.highWater { isFull = true }
    }

    /// Removes bytes that a handler has processed.
    ///
    /// - Parameter weight: The weight with which they were added.
    mutating func remove(_ weight: Int) {
        count -= weight
        if count <= Self.lowWater { isFull = false }
    }
}
