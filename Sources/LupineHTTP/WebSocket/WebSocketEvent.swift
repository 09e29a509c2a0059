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
    /// Whether the octets are compressed (RFC 7692). The owner of the codec decompresses them, and has to check the size and the
    /// UTF-8 of the decompressed message.
    package var isCompressed: Bool

    /// Creates a message.
    package init(_ kind: Kind, _ octets: [UInt8], isCompressed: Bool = false) {
        self.kind = kind
        self.octets = octets
        self.isCompressed = isCompressed
    }
}

/// What `WebSocketCodec.next` found in the received octets: a message, a control frame, or the need for more octets.
package enum WebSocketEvent: Hashable, Sendable {
    /// The codec has consumed all input and needs more.
    case needMore
    /// A message is complete.
    case message(WebSocketMessage)
    /// A ping, with its payload. The owner of the codec answers it with a pong of the same payload.
    case ping([UInt8])
    /// A pong, with its payload; a peer may also send one without a ping.
    case pong([UInt8])
    /// The peer's close frame. The codec drops everything after it.
    case close(WebSocketCloseFrame)
}
