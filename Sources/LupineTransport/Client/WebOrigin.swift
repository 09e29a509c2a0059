// SPDX-License-Identifier: MIT

/// The origin of a URL: its scheme, host and port, which decide who may receive a secret (RFC 6454 §4).
package struct WebOrigin: Hashable, Sendable {
    /// Whether nobody on the path can eavesdrop: the connection uses TLS or a Unix-domain socket.
    package let isSecure: Bool
    /// The host in canonical form, its zone included.
    package let host: String
    /// The port; the scheme's default if the URL has none.
    package let port: Int
    /// The path of a Unix-domain socket; nil for a host on the network.
    private let unixPath: String?

    /// Host and port, in the form that error texts use.
    package var authority: String { TransportError.peer(host, UInt16(clamping: port)) }

    /// Creates the origin of a host and port.
    package init(isSecure: Bool, host: String, port: Int) {
        self.isSecure = isSecure
        self.host = host
        self.port = port
        unixPath = nil
    }

    /// Creates the origin of a URL.
    init(_ url: TransportURL) {
        isSecure = url.scheme != .http
        host = url.zone.map { url.host + "%" + $0 } ?? url.host
        port = Int(url.port)
        unixPath = url.unixPath
    }
}
