// SPDX-License-Identifier: MIT

internal import LupineHTTP

/// A text that a peer has chosen, compared by its octets. Canonically equivalent texts with different octets, such as `é` as one
/// Unicode scalar or as two, are not equal.
///
/// `String` compares by canonical equivalence, which takes about a hundred times as long for texts that differ. If a peer sends
/// many texts, comparing them with each other in this way could block an event loop.
package struct PeerText: Hashable, Sendable {
    /// The maximum length in octets of a name, password, realm, nonce or path that a session stores.
    package static let maxStoredLength = 8_192

    /// The text itself.
    package let text: String

    /// Creates a value with this text.
    package init(_ text: String) { self.text = text }

    /// Whether a session may store the text. It must not be too long, and must not have a long run of combining characters, which
    /// is slow to process.
    package var canBeKept: Bool { text.utf8.count <= Self.maxStoredLength && text.isStreamSafe }

    package static func == (left: PeerText, right: PeerText) -> Bool {
        left.text.hasSameOctets(as: right.text)
    }

    /// The maximum number of octets that are hashed.
    private static let hashedLength = 64

    /// Hashes the length and the beginning of the text, so that hashing a long text takes no longer. `==` compares all octets.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(text.utf8.count)
        for octet in text.utf8.prefix(Self.hashedLength) { hasher.combine(octet) }
    }
}
