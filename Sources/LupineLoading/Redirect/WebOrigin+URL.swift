// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

extension WebOrigin {
    /// Creates the origin of a URL. Fails for a URL without a host, and for schemes other than `http`, `https`, `ws` and `wss`.
    ///
    /// A WebSocket URL has the origin of the corresponding `http` or `https` URL: its handshake goes to the same server.
    init?(_ url: URL?) {
        guard let url, let host = url.hostName, !host.isEmpty else { return nil }
        let isSecure: Bool
        switch url.scheme?.lowercased() {
        case "http", "ws": isSecure = false
        case "https", "wss": isSecure = true
        default: return nil
        }
        self.init(
            isSecure: isSecure, host: HostName.canonical(host), port: url.port ?? (isSecure ? 443 : 80))
    }
}
