// SPDX-License-Identifier: MIT

/// Supplies the authorization for each CONNECT request to an HTTP proxy.
///
/// Basic credentials are the same for each request and are stored in `ProxyServer.credentials`. A Digest authorization contains a
/// count of the requests (RFC 7616 §3.4), so it is computed for each request. The authorizer is part of the pool key, where it is
/// compared as an object: a tunnel that was opened for one user never carries the requests of another.
package protocol TunnelAuthorizing: AnyObject, Sendable {
    /// Returns the value of Proxy-Authorization for a CONNECT to this authority, which is the request target; nil to send no such
    /// field. The loop that opens a connection makes the call, so the method must not block.
    func authorization(forTunnelTo authority: String) -> String?
}

/// A `TunnelAuthorizing` as a value that can be compared. Two values are equal if they wrap the same object.
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
