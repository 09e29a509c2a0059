// SPDX-License-Identifier: MIT

import LupineTransport

/// Descriptions of proxies, none of which is contacted.
enum ProxyServerFixture {
    static let plain = ProxyServer(kind: .http, host: "proxy.test", port: 3128)
    static let named = ProxyServer(
        kind: .http, host: "proxy.test", port: 3128,
        credentials: ProxyServer.Credentials(
            user: Array("Mufasa".utf8), password: Array("Circle of Life".utf8)))
    static let socks = ProxyServer(kind: .socks5, host: "proxy.test", port: 1080)
}
