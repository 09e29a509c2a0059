// SPDX-License-Identifier: MIT

import Foundation

/// Joins received content to pieces of at most 64 KiB, copying each byte once.
///
/// The content that arrives in one turn of the event loop is joined to one piece as long as it fits. Bytes that were received at
/// once are never split over two pieces. If the chunks of the body are delivered separately, the first chunks of a turn each
/// become a piece (T-7). Not thread-safe: the caller makes one call at a time.
struct ContentCollector {
    /// The maximum number of bytes of a piece (U-7.2). A connection reads at most as many bytes at once.
    static let pieceLimit = 64 * 1024

    /// The maximum number of separate chunks in one turn. Later chunks are joined, so that a peer cannot cause much work by many
    /// small chunks.
    static let maxSeparateChunks = 64

    /// The buffered bytes, which become the next piece.
    private var piece = Data()
    /// The number of separate chunks in this turn.
    private var separateChunkCount = 0

    /// Whether no bytes are buffered.
    var isEmpty: Bool { piece.isEmpty }

    /// The number of bytes that fit into the current piece.
    var room: Int { Self.pieceLimit - piece.count }

    /// Whether `count` bytes fit into the current piece.
    func hasRoom(for count: Int) -> Bool { count <= room }

    /// Adds bytes, which must fit into the current piece.
    mutating func add(_ bytes: Span<UInt8>) {
        guard !bytes.isEmpty else { return }
        unsafe bytes.withUnsafeBytes { source in
            guard let start = source.baseAddress else { return }
            if piece.isEmpty {
                piece = unsafe Data(bytes: start, count: source.count)
            } else {
                unsafe piece.append(contentsOf: source)
            }
        }
    }

    /// Adds a chunk. Returns the piece to deliver at once, if any: the chunk itself if it is delivered separately, or the
    /// buffered bytes if the chunk does not fit behind them.
    mutating func add(chunk bytes: Span<UInt8>) -> Data? {
        if separateChunkCount < Self.maxSeparateChunks, isEmpty {
            separateChunkCount += 1
            add(bytes)
            return takePiece()
        }
        let fullPiece = hasRoom(for: bytes.count) ? nil : takePiece()
        add(bytes)
        return fullPiece
    }

    /// Ends the turn: resets the count of separate chunks. Removes and returns the buffered bytes, if any.
    mutating func endTurn() -> Data? {
        separateChunkCount = 0
        return takePiece()
    }

    /// Removes and returns the buffered bytes, if any.
    mutating func takePiece() -> Data? {
        guard !piece.isEmpty else { return nil }
        defer { piece = Data() }
        return piece
    }
}
