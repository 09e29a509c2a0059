// SPDX-License-Identifier: MIT

import LupineTLS
import LupineTestKit
import Testing

@testable import LupineTransport

/// A way from the client to an origin: the server between them, and its effects on what the client can expect.
struct Way: Sendable, CustomTestStringConvertible {
    /// Whether a proxy interprets the requests between client and origin.
    enum Between: Sendable {
        /// Bytes reach the origin unchanged: directly or through a tunnel.
        case nobody
        /// A proxy interprets each request and answers for the origin.
        case proxy
    }

    let name: String
    let between: Between
    /// The proxy; nil for a direct connection.
    let server: (any ServerRecipe)?
    /// The proxy's URL up to the host, credentials included.
    var scheme = "http://"
    /// Whether the client requests a tunnel from an HTTP proxy, for http URLs too.
    var tunnels = false
    /// Whether a connection carries more than one request.
    var keepsAlive = true
    /// The origin's host in URLs.
    var host = "127.0.0.1"
    /// Whether the origin speaks TLS.
    var isSecure = false

    var testDescription: String { name }

    /// Returns a client configuration for this way, with the proxy on the given port.
    func configuration(proxyPort: UInt16?) throws -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration()
        if let proxyPort { configuration.proxy = .url("\(scheme)127.0.0.1:\(proxyPort)") }
        configuration.tunnelsThroughProxy = tunnels
        if isSecure {
            configuration.tls.roots = .certificates(try Certificate.bundle(file: PKI.path("root.pem")))
        }
        configuration.timeout = .seconds(240)
        // Tinyproxy closes the connection after a response that announced keep-alive: a POST on such a connection would be lost.
        if !keepsAlive { configuration.maximumConnectionAge = .zero }
        return configuration
    }

    /// All ways.
    static let all: [Way] = [
        Way(name: "straight", between: .nobody, server: nil),
        Way(name: "squid, absolute form", between: .proxy, server: SquidServer()),
        Way(name: "squid, tunnel", between: .nobody, server: SquidServer(), tunnels: true),
        Way(
            name: "squid, absolute form, as a user", between: .proxy,
            server: SquidServer(credentials: TestUser.forSquid), scheme: "http://\(TestUser.inURL)@"),
        Way(
            name: "squid, tunnel, as a user", between: .nobody,
            server: SquidServer(credentials: TestUser.forSquid), scheme: "http://\(TestUser.inURL)@",
            tunnels: true),
        Way(
            name: "tinyproxy, absolute form", between: .proxy, server: TinyproxyServer(), keepsAlive: false),
        Way(name: "tinyproxy, tunnel", between: .nobody, server: TinyproxyServer(), tunnels: true),
        Way(name: "dante", between: .nobody, server: DanteServer(), scheme: "socks5h://"),
        Way(
            name: "dante, as a user, a name of its own", between: .nobody,
            server: DanteServer(credentials: TestUser.forDante), scheme: "socks5h://\(TestUser.inURL)@",
            host: DanteServer.privateName),
        Way(name: "straight, secured", between: .nobody, server: nil, isSecure: true),
        Way(name: "squid, secured", between: .nobody, server: SquidServer(), isSecure: true),
        Way(
            name: "squid, as a user, secured", between: .nobody,
            server: SquidServer(credentials: TestUser.forSquid), scheme: "http://\(TestUser.inURL)@",
            isSecure: true),
        Way(name: "tinyproxy, secured", between: .nobody, server: TinyproxyServer(), isSecure: true),
        Way(
            name: "dante, secured", between: .nobody, server: DanteServer(), scheme: "socks5h://",
            isSecure: true),
    ]
}

/// The user of the proxies that require one. The password contains a colon, which a user name must not.
enum TestUser {
    static let name = "lupine"
    static let password = "s3cret:x"
    /// Name and password as written in a URL.
    static let inURL = "lupine:s3cret%3Ax"
    /// The password's hash by `openssl passwd -apr1 -salt lupine`.
    static let forSquid = (user: name, passwordHash: "$apr1$lupine$.fWkgTsek4Sp1SHHzBv.O.")
    /// The password's hash by `openssl passwd -6 -salt lupine`.
    static let forDante = (
        user: name,
        passwordHash:
            "$6$lupine$nB.rLyFMraL8T46oZZleJxNksYG94g.kWlieVYEaOaGIJqyMxS0X3wexINQTYeqjNVkhT7QGuukKp0SShkNcb/"
    )
}
