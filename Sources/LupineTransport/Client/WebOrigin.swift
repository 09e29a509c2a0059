// SPDX-License-Identifier: MIT

/// Scheme, host and port of an address: what decides who may hear a secret (RFC 6454 §4).
package struct WebOrigin: Hashable, Sendable {
    /// Whether nobody on the way there can listen: TLS, or a socket of this machine.
    package let isSecure: Bool
    /// The host in canonical form, its zone included.
    package let host: String
    /// The port, also where the address leaves it out.
    package let port: Int
    /// The path of a Unix-domain socket.
    private let unixPath: String?

    /// Host and port, as errors name them.
    package var authority: String { TransportError.peer(host, UInt16(clamping: port)) }

    /// The origin of a host and port.
    package init(isSecure: Bool, host: String, port: Int) {
        self.isSecure = isSecure
        self.host = host
        self.port = port
        unixPath = nil
    }

    /// The origin of an address.
    init(_ url: TransportURL) {
        isSecure = url.scheme != .http
        host = url.zone.map { url.host + "%" + $0 } ?? url.host
        port = Int(url.port)
        unixPath = url.unixPath
    }
}
