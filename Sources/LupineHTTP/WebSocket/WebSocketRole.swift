// SPDX-License-Identifier: MIT

/// An end of a WebSocket connection: a client masks the frames that it sends, a server must not (RFC 6455 §5.1).
package enum WebSocketRole: Hashable, Sendable, CaseIterable {
    case client
    case server
}
