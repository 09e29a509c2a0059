// SPDX-License-Identifier: MIT

internal import LupineHTTP

/// A text that a peer has chosen, compared by its octets.
///
/// Strings are compared by canonical equivalence: from the first difference on that takes a hundred times as long, and a peer
/// whose texts are compared with many others of its own would keep an event loop busy. Two that only look the same are two.
package struct PeerText: Hashable, Sendable {
    /// The most octets of a text that is kept for as long as a session: a name, a password, a realm, a nonce, a path.
    package static let longestKept = 8_192

    /// The text itself.
    package let text: String

    /// A text as it came.
    package init(_ text: String) { self.text = text }

    /// Whether it is short enough to be kept, and has no run of combining characters that takes long to look at.
    package var canBeKept: Bool { text.utf8.count <= Self.longestKept && text.isStreamSafe }

    package static func == (left: PeerText, right: PeerText) -> Bool {
        left.text.hasSameOctets(as: right.text)
    }

    /// By the length and the beginning.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(text.utf8.count)
        for octet in text.utf8.prefix(64) { hasher.combine(octet) }
    }
}
