// SPDX-License-Identifier: MIT

/// A text that a peer has chosen, compared by its octets.
///
/// Strings are compared by canonical equivalence: from the first difference on that takes a hundred times as long, and a peer
/// whose texts are compared with many others of its own would keep an event loop busy. Two that only look the same are two.
struct PeerText: Hashable, Sendable {
    let text: String

    init(_ text: String) { self.text = text }

    static func == (left: PeerText, right: PeerText) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    /// By the length and the beginning.
    func hash(into hasher: inout Hasher) {
        hasher.combine(text.utf8.count)
        for octet in text.utf8.prefix(64) { hasher.combine(octet) }
    }
}
