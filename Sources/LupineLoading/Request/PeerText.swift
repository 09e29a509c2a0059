// SPDX-License-Identifier: MIT

internal import LupineHTTP

/// A text that a peer has chosen, compared by its octets, so that canonically equivalent texts with different octets are not
/// equal.
///
/// `String` compares by canonical equivalence, which takes a hundred times as long as soon as two texts differ. A peer that sends
/// many texts, which are compared with each other, could keep an event loop busy.
package struct PeerText: Hashable, Sendable {
    /// The largest number of octets of a name, password, realm, nonce or path that a session keeps.
    package static let maxStoredLength = 8_192

    /// The text itself.
    package let text: String

    /// Creates a text as received.
    package init(_ text: String) { self.text = text }

    /// Whether a session may keep the text: it is short and has no long run of combining characters, which is slow to process.
    package var canBeKept: Bool { text.utf8.count <= Self.maxStoredLength && text.isStreamSafe }

    package static func == (left: PeerText, right: PeerText) -> Bool {
        left.text.hasSameOctets(as: right.text)
    }

    /// Hashes the length and the first 64 octets, so that the cost does not depend on the peer; `==` compares all octets.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(text.utf8.count)
        for octet in text.utf8.prefix(64) { hasher.combine(octet) }
    }
}
