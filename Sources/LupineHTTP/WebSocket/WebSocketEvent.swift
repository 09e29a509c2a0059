// SPDX-License-Identifier: MIT

/// A whole message, put together from its fragments.
package struct WebSocketMessage: Hashable, Sendable {
    /// What a message holds.
    package enum Kind: Hashable, Sendable, CaseIterable {
        /// UTF-8.
        case text
        /// Anything.
        case binary
    }

    /// What it holds.
    package var kind: Kind
    /// The octets, without masks; of text they are UTF-8, unless they are compressed.
    package var octets: [UInt8]
    /// Whether the octets are compressed (RFC 7692). What they decompress to has not been looked at: size and UTF-8 are
    /// then for the receiver to check.
    package var isCompressed: Bool

    /// A message of its parts.
    package init(_ kind: Kind, _ octets: [UInt8], isCompressed: Bool = false) {
        self.kind = kind
        self.octets = octets
        self.isCompressed = isCompressed
    }
}

/// What a WebSocket codec can say about the bytes it was given.
package enum WebSocketEvent: Hashable, Sendable {
    /// Nothing yet: all the input has been taken, more is needed.
    case needMore
    /// A message is complete.
    case message(WebSocketMessage)
    /// A ping, to be answered with a pong of the same payload.
    case ping([UInt8])
    /// A pong, asked for or not.
    case pong([UInt8])
    /// The peer's close frame; nothing behind it is read.
    case close(WebSocketClosure)
}
