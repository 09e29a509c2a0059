// SPDX-License-Identifier: MIT

import Foundation

/// Gathers content into pieces of at most 64 KiB, copying each byte once.
///
/// The content that arrives in one turn of the loop is joined to one piece as far as it fits; received bytes are never split over
/// two pieces. If chunks are delivered separately, the first ones of a turn each become a piece (T-7). The caller serialises all
/// calls.
struct ContentCollector {
    /// The maximum size of a piece: the limit of U-7.2, and the size of one read.
    static let pieceLimit = 64 * 1024

    /// The maximum number of separate chunks in one turn. Later chunks are joined, so that a peer cannot cause work with many
    /// small chunks.
    static let maxChunks = 64

    private var piece = Data()
    /// The number of separate chunks in this turn.
    private var chunkCount = 0

    /// Whether no bytes are buffered.
    var isEmpty: Bool { piece.isEmpty }

    /// The number of bytes that fit into the current piece.
    var room: Int { Self.pieceLimit - piece.count }

    /// Whether `count` bytes fit into the current piece.
    func hasRoom(for count: Int) -> Bool { count <= room }

    /// Adds bytes, which must fit.
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

    /// Adds a chunk. Returns the piece to deliver now, if any: the chunk itself if it is delivered separately, or the buffered
    /// bytes if the chunk does not fit behind them.
    mutating func add(chunk bytes: Span<UInt8>) -> Data? {
        if chunkCount < Self.maxChunks, isEmpty {
            chunkCount += 1
            add(bytes)
            return take()
        }
        let full = hasRoom(for: bytes.count) ? nil : take()
        add(bytes)
        return full
    }

    /// Ends the turn: resets the count of chunks, and returns the buffered bytes, if any.
    mutating func endTurn() -> Data? {
        chunkCount = 0
        return take()
    }

    /// Removes and returns the buffered bytes, if any.
    mutating func take() -> Data? {
        guard !piece.isEmpty else { return nil }
        let taken = piece
        piece = Data()
        return taken
    }
}
