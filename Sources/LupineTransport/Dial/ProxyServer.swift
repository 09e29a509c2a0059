// SPDX-License-Identifier: MIT

/// Where a proxy listens, what it speaks and who we are to it.
///
/// Part of a pool key: connections made through one proxy, or as one of its users, never serve another.
package struct ProxyServer: Hashable, Sendable {
    /// How the proxy is spoken to.
    package enum Kind: UInt8, Sendable {
        /// Absolute-form requests for `http`, CONNECT for `https` (RFC 9112 §3.2.2, RFC 9110 §9.3.6).
        case http
        /// The same, inside TLS to the proxy.
        case https
        /// RFC 1928; the proxy resolves names.
        case socks5
    }

    /// A user and password, decoded to the bytes that are sent.
    package struct Credentials: Hashable, Sendable {
        /// What goes before the colon, or into the protocol's user field.
        package var user: [UInt8]
        /// What goes with it; never described or logged.
        package var password: [UInt8]

        /// Credentials of the bytes given, which are sent as they are.
        package init(user: [UInt8], password: [UInt8]) {
            self.user = user
            self.password = password
        }
    }

    /// How it is spoken to.
    package var kind: Kind
    /// A name or an IP literal without brackets, in lower case.
    package var host: String
    /// Where it listens.
    package var port: UInt16
    /// Who we are to it; nil for nobody in particular.
    package var credentials: Credentials?
    /// Says who we are when a tunnel is asked for, in the place of `credentials`; nil leaves it to them.
    package var tunnelAuthorizer: TunnelAuthorizer?

    /// A proxy; ASCII letters of the host are lower-cased, but for a zone's.
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
        return host.utf8.contains(0x3A) ? "\(scheme)://[\(host)]:\(port)" : "\(scheme)://\(host):\(port)"
    }
}
