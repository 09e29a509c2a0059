// SPDX-License-Identifier: MIT

/// Supplies the authorization for each CONNECT request to an HTTP proxy.
///
/// Basic credentials are the same each time and are kept in `ProxyServer.credentials`; a Digest response counts its uses (RFC
/// 7616 §3.4), so it is made with the request. Part of a pool key by identity: a tunnel opened for one user never carries the
/// requests of another.
package protocol TunnelAuthorizing: AnyObject, Sendable {
    /// Returns the value of Proxy-Authorization for a CONNECT to this authority, which is the request target, or nil to send
    /// none. Called on a loop, for each connection that is opened; it must not block.
    func authorization(forTunnelTo authority: String) -> String?
}

/// A `TunnelAuthorizing` as a value that compares by identity.
package struct TunnelAuthorizer: Hashable, Sendable {
    /// The authorizer.
    package let source: any TunnelAuthorizing

    /// Wraps `source`.
    package init(_ source: any TunnelAuthorizing) { self.source = source }

    package static func == (left: TunnelAuthorizer, right: TunnelAuthorizer) -> Bool {
        left.source === right.source
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(source)) }
}
