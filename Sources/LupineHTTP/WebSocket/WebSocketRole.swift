// SPDX-License-Identifier: MIT

/// One of the two ends of a WebSocket connection. A client must mask the frames that it sends, a server must not (RFC 6455 §5.1).
package enum WebSocketRole: Hashable, Sendable, CaseIterable {
    case client
    case server
}
