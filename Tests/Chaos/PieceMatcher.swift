// SPDX-License-Identifier: MIT

/// Compares the pieces of a stream with the expected body. Each attempt starts the body again without notice: a piece continues
/// where the last one ended, or starts the body.
package struct PieceMatcher: Sendable {
    private let body: [UInt8]
    private var places: Set<Int> = [0]
    /// A description of the first piece that does not match.
    package private(set) var wrongPiece: String?

    /// Creates a matcher for `body`.
    package init(_ body: [UInt8]) { self.body = body }

    /// Adds the next piece.
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

    /// Whether the pieces of the last attempt are the whole body.
    package var isWhole: Bool { wrongPiece == nil && places.contains(body.count) }
}
