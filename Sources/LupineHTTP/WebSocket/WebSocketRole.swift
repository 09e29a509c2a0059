// SPDX-License-Identifier: MIT

/// Which end of a WebSocket connection this is: a client masks what it sends, a server must not (RFC 6455 §5.1).
package enum WebSocketRole: Hashable, Sendable, CaseIterable {
    case client
    case server
}
