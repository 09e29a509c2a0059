// SPDX-License-Identifier: MIT

/// Says who we are to an HTTP proxy each time that it is asked for a tunnel.
///
/// Basic credentials are the same each time and stand in `ProxyServer.credentials`; an answer under the Digest scheme
/// counts its uses (RFC 7616 §3.4), so it is made when the request is. Part of a pool key by identity: a tunnel that
/// was opened for one user never carries the requests of another.
package protocol TunnelAuthorizing: AnyObject, Sendable {
    /// The value of Proxy-Authorization of a CONNECT to this authority, which is the request's target. Nil sends none.
    /// Called on a loop, for each connection that is opened; it must not block.
    func authorization(forTunnelTo authority: String) -> String?
}

/// A `TunnelAuthorizing` as a value, equal to itself only.
package struct TunnelAuthorizer: Hashable, Sendable {
    /// Whom to ask.
    package let source: any TunnelAuthorizing

    /// That one.
    package init(_ source: any TunnelAuthorizing) { self.source = source }

    package static func == (left: TunnelAuthorizer, right: TunnelAuthorizer) -> Bool {
        left.source === right.source
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(source)) }
}
