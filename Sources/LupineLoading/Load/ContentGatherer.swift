// SPDX-License-Identifier: MIT

import Foundation

/// Gathers content into pieces of at most 64 KiB, with one copy of each byte.
///
/// What comes in one turn of a loop becomes one piece as far as it fits; pieces are never cut apart. It is filled and
/// emptied by whoever serialises the calls.
struct ContentGatherer {
    /// The most that a piece holds: what U-7.2 allows, and what one read brings.
    static let pieceLimit = 64 * 1024

    private var piece = Data()

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

    /// What waits, if anything does.
    mutating func take() -> Data? {
        guard !piece.isEmpty else { return nil }
        let taken = piece
        piece = Data()
        return taken
    }
}
