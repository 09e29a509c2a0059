// SPDX-License-Identifier: MIT

/// A proxy's address, protocol and credentials.
///
/// It is part of a pool key: a connection through one proxy never carries requests for another proxy, or with other credentials.
package struct ProxyServer: Hashable, Sendable {
    /// The protocol of a proxy.
    package enum Kind: UInt8, Sendable {
        /// HTTP: requests in absolute form for `http` origins, CONNECT for `https` origins (RFC 9112 §3.2.2, RFC 9110 §9.3.6).
        case http
        /// The same as `http`, inside TLS to the proxy.
        case https
        /// SOCKS5 (RFC 1928); the proxy resolves names.
        case socks5
    }

    /// A user and password, decoded to the bytes that are sent.
    package struct Credentials: Hashable, Sendable {
        /// The user name: the part before the colon of Basic authentication, or the user field of SOCKS5.
        package var user: [UInt8]
        /// The password. No description or log contains it.
        package var password: [UInt8]

        /// Creates credentials from bytes, which are sent unchanged.
        package init(user: [UInt8], password: [UInt8]) {
            self.user = user
            self.password = password
        }
    }

    /// The protocol that the proxy speaks.
    package var kind: Kind
    /// A name or an IP literal without brackets, in lower case.
    package var host: String
    /// The port on which the proxy listens.
    package var port: UInt16
    /// The client's credentials for the proxy, if any.
    package var credentials: Credentials?
    /// Supplies the authorization of each CONNECT request; nil to use `credentials`.
    package var tunnelAuthorizer: TunnelAuthorizer?

    /// Creates a proxy; the ASCII letters of the host are lower-cased, except those of a zone.
    package init(kind: Kind, host: String, port: UInt16, credentials: Credentials? = nil) {
        self.kind = kind
        self.host = host.hostLowercased
        self.port = port
        self.credentials = credentials
    }
}

extension ProxyServer: CustomStringConvertible {
    /// The proxy's address, without its credentials.
    package var description: String {
        let scheme =
            switch kind {
            case .http: "http"
            case .https: "https"
            case .socks5: "socks5h"
            }
        // Only an IPv6 address contains a colon (0x3A).
        return host.utf8.contains(0x3A) ? "\(scheme)://[\(host)]:\(port)" : "\(scheme)://\(host):\(port)"
    }
}
