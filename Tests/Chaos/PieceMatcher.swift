// SPDX-License-Identifier: MIT

/// Holds the pieces of a stream against the body that they should make up. Each attempt begins the body anew, without saying
/// so: a piece goes on where the last one ended, or stands at the beginning.
package struct PieceMatcher: Sendable {
    private let body: [UInt8]
    private var places: Set<Int> = [0]
    /// The first piece that stands nowhere.
    package private(set) var wrongPiece: String?

    /// Pieces of `body`.
    package init(_ body: [UInt8]) { self.body = body }

    /// The next piece.
    package mutating func add(_ piece: some Collection<UInt8>) {
        guard wrongPiece == nil, !piece.isEmpty else { return }
        let next = places.union([0]).filter { place in
            place + piece.count <= body.count && body[place..<place + piece.count].elementsEqual(piece)
        }
        if next.isEmpty {
            let text = String(decoding: piece.prefix(40), as: UTF8.self).debugDescription
            wrongPiece = "a piece of \(piece.count) octets behind \(places.sorted()): \(text)"
        }
        places = Set(next.map { $0 + piece.count })
    }

    /// Whether the last attempt's pieces are the whole body.
    package var isWhole: Bool { wrongPiece == nil && places.contains(body.count) }
}
