// SPDX-License-Identifier: MIT

import Foundation

/// Gathers content into pieces of at most 64 KiB, copying each byte once.
///
/// The content of one loop turn becomes one piece as far as it fits; pieces are never split. If chunks are kept, the first ones
/// of a turn become pieces of their own (T-7). The caller serialises all calls.
struct ContentCollector {
    /// The maximum size of a piece: the limit of U-7.2, and the size of one read.
    static let pieceLimit = 64 * 1024

    /// The number of chunks that are kept apart in one turn; later ones are joined, however small a peer makes them.
    static let maxChunks = 64

    private var piece = Data()
    /// The number of chunks kept apart in this turn.
    private var chunks = 0

    /// Whether no bytes are buffered.
    var isEmpty: Bool { piece.isEmpty }

    /// The number of bytes that the current piece can still take.
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

    /// Adds a chunk and returns the piece to deliver now: the chunk itself while chunks are kept apart, or the bytes buffered
    /// before if the chunk did not fit behind them.
    mutating func add(chunk bytes: Span<UInt8>) -> Data? {
        if chunks < Self.maxChunks, isEmpty {
            chunks += 1
            add(bytes)
            return take()
        }
        let full = hasRoom(for: bytes.count) ? nil : take()
        add(bytes)
        return full
    }

    /// Ends the turn and its count of chunks. Returns the buffered bytes, if any.
    mutating func endTurn() -> Data? {
        chunks = 0
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
