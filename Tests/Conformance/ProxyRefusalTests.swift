// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineOrigin
import Testing

@testable import LupineTransport

/// The results of a proxy's refusals: a response if the proxy answers for the origin, a typed error if it opens no tunnel.
@Suite struct ProxyRefusalTests {
    private static let squid = SquidServer(credentials: TestUser.forSquid, refusedPort: 9)
    private static let tinyproxy = TinyproxyServer(credentials: (TestUser.name, "plain"))

    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let server: any ServerRecipe
        let user: String
        let tunnels: Bool
        var testDescription: String { name }
    }

    static let unauthenticated: [Row] = [
        Row(name: "squid, absolute form, nobody", server: squid, user: "", tunnels: false),
        Row(name: "squid, absolute form, wrong password", server: squid, user: "lupine:x@", tunnels: false),
        Row(name: "squid, tunnel, nobody", server: squid, user: "", tunnels: true),
        Row(name: "squid, tunnel, wrong password", server: squid, user: "lupine:x@", tunnels: true),
        Row(name: "tinyproxy, absolute form, nobody", server: tinyproxy, user: "", tunnels: false),
        Row(name: "tinyproxy, tunnel, nobody", server: tinyproxy, user: "", tunnels: true),
    ]

    @Test(.timeLimit(.minutes(10)), arguments: unauthenticated)
    func authenticationIsDemanded(_ row: Row) async throws {
        var way = Way(
            name: row.name, between: .proxy, server: row.server, scheme: "http://\(row.user)",
            tunnels: row.tunnels)
        way.keepsAlive = false
        try await Conversation.on(way) { talk in
            if row.tunnels {
                let error = try await talk.failure("/get")
                guard case .tunnel(let proxy, .authenticationRequired(let head)) = error else {
                    throw RowFailure("\(error)")
                }
                try #require(head.fields[.proxyAuthenticate]?.hasPrefix("Basic realm=") == true)
                try #require(!proxy.contains("lupine:"))
                try #require(!"\(error)".contains("lupine:x"))
            } else {
                let answer = try await talk.ask(.get, "/get")
                try #require(answer.status == 407)
                try #require(answer.response.fields[.proxyAuthenticate]?.hasPrefix("Basic realm=") == true)
                // Reads only the head: a proxy that does not read the content resets the connection after its page.
                let post = try await talk.client.send(
                    HTTPRequest(
                        method: .post, url: talk.url("/check"), body: .bytes(Blob.bytes(100_000))))
                try #require(post.status.code == 407)
            }
            try #require(talk.origin.counts.requests == 0)
        }
    }

    @Test(.timeLimit(.minutes(10))) func tinyproxyTakesTheRightPassword() async throws {
        let way = Way(
            name: "tinyproxy", between: .proxy, server: Self.tinyproxy, scheme: "http://lupine:plain@",
            tunnels: true)
        try await Conversation.on(way) { talk in
            try #require(try await talk.ask(.get, "/get").status == 200)
        }
    }

    @Test(.timeLimit(.minutes(10)), arguments: [false, true])
    func aForbiddenPort(tunnels: Bool) async throws {
        try await ServerProcess.with(SquidServer(refusedPort: 9)) { squid in
            var configuration = HTTPClient.Configuration()
            configuration.proxy = .url(squid.url)
            configuration.tunnelsThroughProxy = tunnels
            let client = HTTPClient(configuration: configuration)
            do {
                let response = try await client.get("http://127.0.0.1:9/")
                try #require(!tunnels && response.status.code == 403)
            } catch let error as TransportError {
                guard tunnels, case .tunnel(_, .refused(let head)) = error, head.status.code == 403 else {
                    throw error
                }
            }
            await client.shutdown()
        }
    }

    @Test(.timeLimit(.minutes(10)), arguments: [false, true])
    func anOriginThatIsNotThere(tunnels: Bool) async throws {
        try await ServerProcess.with(SquidServer()) { squid in
            var configuration = HTTPClient.Configuration()
            configuration.proxy = .url(squid.url)
            configuration.tunnelsThroughProxy = tunnels
            let client = HTTPClient(configuration: configuration)
            do {
                let response = try await client.get("http://127.0.0.1:\(try PortSupply.next())/")
                try #require(!tunnels && response.status.code == 503)
            } catch let error as TransportError {
                guard tunnels, case .tunnel(_, .refused(let head)) = error, head.status.code == 503 else {
                    throw error
                }
            }
            await client.shutdown()
        }
    }

    @Test func aProxyThatIsNotThere() async throws {
        let port = try PortSupply.next()
        var configuration = HTTPClient.Configuration()
        configuration.proxy = .url("http://127.0.0.1:\(port)")
        let client = HTTPClient(configuration: configuration)
        await #expect(
            throws: TransportError.proxyUnreachable(
                proxy: "http://127.0.0.1:\(port)",
                [ConnectFailure(address: .ipv4(.loopback, port: port), error: .connectionRefused)])
        ) { try await client.get("http://127.0.0.1:1/") }
        await client.shutdown()
    }
}
