// SPDX-License-Identifier: MIT

/// A complete message, assembled from its fragments.
package struct WebSocketMessage: Hashable, Sendable {
    /// The type of a message.
    package enum Kind: Hashable, Sendable, CaseIterable {
        /// UTF-8 text.
        case text
        /// Any octets.
        case binary
    }

    /// The type of the message.
    package var kind: Kind
    /// The unmasked octets; those of text are UTF-8, unless they are compressed.
    package var octets: [UInt8]
    /// Whether the octets are compressed (RFC 7692). The receiver then has to check the size and the UTF-8 of the decompressed
    /// message.
    package var isCompressed: Bool

    /// A message with these parts.
    package init(_ kind: Kind, _ octets: [UInt8], isCompressed: Bool = false) {
        self.kind = kind
        self.octets = octets
        self.isCompressed = isCompressed
    }
}

/// An event in the octets that a WebSocket codec received.
package enum WebSocketEvent: Hashable, Sendable {
    /// All input was consumed and more is needed.
    case needMore
    /// A message is complete.
    case message(WebSocketMessage)
    /// A ping, to be answered with a pong of the same payload.
    case ping([UInt8])
    /// A pong, solicited or not.
    case pong([UInt8])
    /// The peer's close frame; nothing after it is read.
    case close(WebSocketCloseFrame)
}
