// SPDX-License-Identifier: MIT

/// How many bytes of a stream wait for its handlers, each handler's counted, and whether that is too much. A value; the
/// request keeps it under its lock.
struct StreamBacklog {
    /// It is full when more than this waits...
    static let highMark = 256 * 1024
    /// ... until so little is left.
    static let lowMark = 64 * 1024
    /// No more small pieces wait for a handler, however little is in them.
    private static let mostPieces = 64

    /// What a piece of so many bytes counts for; nothing is no piece.
    static func weight(of bytes: Int) -> Int { bytes == 0 ? 0 : max(bytes, highMark / mostPieces) }

    private(set) var count = 0
    /// Whether no more should come.
    private(set) var isFull = false

    /// So much has come for a handler.
    mutating func add(_ bytes: Int) {
        count += bytes
        if count > Self.highMark { isFull = true }
    }

    /// A handler has dealt with so much.
    mutating func remove(_ bytes: Int) {
        count -= bytes
        if count <= Self.lowMark { isFull = false }
    }
}
