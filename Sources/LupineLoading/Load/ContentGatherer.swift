// SPDX-License-Identifier: MIT

import Foundation

/// Gathers content into pieces of at most 64 KiB, with one copy of each byte.
///
/// What comes in one turn of a loop becomes one piece as far as it fits; pieces are never cut apart. Where chunks are kept, the
/// first ones of a turn become pieces of their own (T-7). It is filled and emptied by whoever serialises the calls.
struct ContentGatherer {
    /// The most that a piece holds: what U-7.2 allows, and what one read brings.
    static let pieceLimit = 64 * 1024

    /// So many chunks of one turn stay apart; those behind them are joined, however small a peer makes them.
    static let mostChunks = 64

    private var piece = Data()
    /// How many chunks of this turn have been kept apart.
    private var chunks = 0

    /// Nothing waits.
    var isEmpty: Bool { piece.isEmpty }

    /// How much more the piece at hand can take.
    var room: Int { Self.pieceLimit - piece.count }

    /// Whether `count` bytes can be added to what waits.
    func hasRoom(for count: Int) -> Bool { count <= room }

    /// Adds bytes, for which there is room.
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

    /// Adds a chunk, and says what is to be handed on now: that chunk, as long as chunks are kept apart, or what there was no
    /// more room for.
    mutating func add(chunk bytes: Span<UInt8>) -> Data? {
        if chunks < Self.mostChunks, isEmpty {
            chunks += 1
            add(bytes)
            return take()
        }
        let full = hasRoom(for: bytes.count) ? nil : take()
        add(bytes)
        return full
    }

    /// The turn is over, and so is the count of its chunks. What waits, if anything does.
    mutating func endTurn() -> Data? {
        chunks = 0
        return take()
    }

    /// What waits, if anything does.
    mutating func take() -> Data? {
        guard !piece.isEmpty else { return nil }
        let taken = piece
        piece = Data()
        return taken
    }
}
