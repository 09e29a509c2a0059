// SPDX-License-Identifier: MIT

internal import LupineHTTP

/// A text that a peer has chosen, compared by its octets.
///
/// Strings are compared by canonical equivalence, which from the first difference on takes a hundred times as long: a peer whose
/// texts are compared with many others of its own could keep an event loop busy. Canonically equivalent texts with different
/// octets are not equal.
package struct PeerText: Hashable, Sendable {
    /// The most octets of a name, password, realm, nonce or path that is kept for the life of a session.
    package static let longestKept = 8_192

    /// The text itself.
    package let text: String

    /// Creates a text as received.
    package init(_ text: String) { self.text = text }

    /// Whether the text is short enough to be kept, and has no long run of combining characters, which is slow to process.
    package var canBeKept: Bool { text.utf8.count <= Self.longestKept && text.isStreamSafe }

    package static func == (left: PeerText, right: PeerText) -> Bool {
        left.text.hasSameOctets(as: right.text)
    }

    /// Hashes the length and the first 64 octets.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(text.utf8.count)
        for octet in text.utf8.prefix(64) { hasher.combine(octet) }
    }
}
