// SPDX-License-Identifier: MIT

internal import Foundation

/// Scheme, host and port of an address: what decides who may hear a secret (RFC 6454 §4).
///
/// A web socket has the origin of the `http` or `https` address beside it: its handshake goes to the same server.
struct WebOrigin: Hashable, Sendable {
    /// Whether the way there is secure.
    let isSecure: Bool
    /// The host in canonical form.
    let host: String
    /// The port, also where the address leaves it out.
    let port: Int

    /// Nil for an address without a host, and for schemes that are not of the web.
    init?(_ url: URL?) {
        guard let url, let host = url.host(percentEncoded: false), !host.isEmpty else { return nil }
        switch url.scheme?.lowercased() {
        case "http", "ws": isSecure = false
        case "https", "wss": isSecure = true
        default: return nil
        }
        self.host = HostName.canonical(host)
        port = url.port ?? (isSecure ? 443 : 80)
    }
}
