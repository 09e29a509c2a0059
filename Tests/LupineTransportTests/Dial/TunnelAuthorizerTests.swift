// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineOrigin
import Testing

@testable import LupineTransport

/// Proxy authorization that the layer above computes: for tunnels once for each connection, otherwise once for each request.
@Suite struct TunnelAuthorizerTests {
    /// Returns a scheme with a running number, and records the authorities of the tunnels.
    private final class CountingAuthorizer: TunnelAuthorizing {
        let authorities = Box<[String]>([])
        let scheme: String?

        init(_ scheme: String?) { self.scheme = scheme }

        func authorization(forTunnelTo authority: String) -> String? {
            authorities.update { $0.append(authority) }
            return scheme.map { "\($0) \(authorities.value.count)" }
        }
    }

    private static let established = Script.Step.send("HTTP/1.1 200 Connected\r\n\r\n")

    /// Runs `body` with an origin that plays the scripted proxy, and with a function that sends through it. Their pool uses
    /// tunnels for plain origins too.
    private func withProxy(
        _ scripts: [Script],
        _ body: (OriginServer, (TunnelAuthorizer?) async throws -> RecordingSink) async throws -> Void
    ) async throws {
        var serving = OriginConfiguration()
        serving.script = ScriptPlan(scripts)
        serving.recordedBytes = 1 << 16
        let origin = try OriginServer.start(configuration: serving)
        let group = try EventLoopGroup(count: 1, name: "tunnels", clock: MonotonicClock())
        var configuration = ConnectionPool.Configuration()
        configuration.dial.tunnelsEverything = true
        let pool = ConnectionPool(
            configuration: configuration, group: group,
            resolver: Resolver(configuration: Resolver.Configuration()))
        let send = { (authorizer: TunnelAuthorizer?) in
            var proxy = ProxyServer(
                kind: .http, host: "127.0.0.1", port: origin.port,
                credentials: ProxyServer.Credentials(user: [0x75], password: [0x70]))
            proxy.tunnelAuthorizer = authorizer
            var fields = Fields()
            try fields.append(.host, "far.test")
            let sink = RecordingSink()
            pool.submit(
                Exchange(
                    head: RequestHead(method: .get, target: .origin("/"), fields: fields),
                    origin: Origin(scheme: .http, host: "far.test", port: 80, proxy: proxy), sink: sink))
            await sink.ended.wait()
            return sink
        }
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(origin, send))
        } catch { result = .failure(error) }
        await withCheckedContinuation { continuation in pool.shutDown { continuation.resume() } }
        await group.shutdown()
        await origin.shutdown()
        try result.get()
    }

    private func request(_ origin: OriginServer, _ connection: Int) -> String {
        String(decoding: origin.received(on: connection), as: UTF8.self)
    }

    @Test("[U-11.17] a tunnel's challenge is reported with its fields, and answered in a new CONNECT")
    func aChallengeIsAnswered() async throws {
        let challenge = Script([
            .expectHead,
            .send(
                "HTTP/1.1 407 No\r\nProxy-Authenticate: Digest realm=\"p\", nonce=\"n\"\r\n"
                    + "Proxy-Authenticate: Basic realm=\"p\"\r\nContent-Length: 2\r\n\r\nno"), .stall,
        ])
        let open = Script([.expectHead, Self.established, .expectHead, .reply("far"), .stall])
        try await withProxy([challenge, open]) { origin, send in
            let first = try await send(nil)
            guard case .tunnel(_, .authenticationRequired(let head)) = first.failure else {
                Issue.record("\(String(describing: first.failure))")
                return
            }
            #expect(
                head.fields.values(of: .proxyAuthenticate)
                    == ["Digest realm=\"p\", nonce=\"n\"", "Basic realm=\"p\""])
            let authorizer = CountingAuthorizer("Digest")
            let second = try await send(TunnelAuthorizer(authorizer))
            #expect(second.text == "far" && authorizer.authorities.value == ["far.test:80"])
            #expect(request(origin, 0).contains("Proxy-Authorization: Basic dTpw\r\n"))
            let connect = request(origin, 1).split(separator: "\r\n\r\n")
            #expect(connect[0].hasPrefix("CONNECT far.test:80 HTTP/1.1\r\n"))
            #expect(connect[0].contains("Proxy-Authorization: Digest 1"))
            #expect(!connect[0].contains("Basic"))
            // The origin behind the tunnel receives no proxy authorization.
            #expect(!connect[1].contains("Proxy-Authorization"))
        }
    }

    @Test("[U-11.17] each tunnel is authorized once, and only for its own requests")
    func oneAnswerForEachTunnel() async throws {
        let open = Script([
            .expectHead, Self.established, .expectHead, .reply("a"), .expectHead, .reply("b"), .stall,
        ])
        try await withProxy([open, open]) { origin, send in
            let first = CountingAuthorizer("One")
            let other = CountingAuthorizer("Other")
            let texts = [
                try await send(TunnelAuthorizer(first)).text, try await send(TunnelAuthorizer(first)).text,
                try await send(TunnelAuthorizer(other)).text,
            ]
            #expect(texts == ["a", "b", "a"])
            #expect(first.authorities.value.count == 1 && other.authorities.value.count == 1)
            #expect(request(origin, 0).contains("Proxy-Authorization: One 1\r\n"))
            #expect(request(origin, 1).contains("Proxy-Authorization: Other 1\r\n"))
        }
    }

    @Test func withoutAnAuthorizationTheCredentialsAreUsed() async throws {
        let open = Script([.expectHead, Self.established, .expectHead, .reply("far"), .stall])
        try await withProxy([open]) { origin, send in
            let text = try await send(TunnelAuthorizer(CountingAuthorizer(nil))).text
            #expect(text == "far" && request(origin, 0).contains("Proxy-Authorization: Basic dTpw\r\n"))
        }
    }

    @Test func anAnswerThatCannotBeSentIsRefused() async throws {
        try await withProxy([Script([.stall])]) { origin, send in
            let failure = try await send(TunnelAuthorizer(CountingAuthorizer("a\r\nb"))).failure
            guard case .tunnel(_, .http(.invalidValueToSend)) = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
        }
    }

    @Test("[U-11.17] a request without a tunnel keeps its own Proxy-Authorization")
    func aRequestsOwnAuthorization() async throws {
        var serving = OriginConfiguration()
        serving.recordedBytes = 1 << 16
        serving.script = ScriptPlan([Script([.expectHead, .reply("a"), .expectHead, .reply("b"), .stall])])
        let origin = try OriginServer.start(configuration: serving)
        let client = HTTPClient(
            configuration: .with { $0.proxy = .url("http://u:p@127.0.0.1:\(origin.port)") })
        var fields = Fields()
        try fields.append(.proxyAuthorization, "Digest x")
        let first = try await client.send(HTTPRequest(url: "http://far.test/", fields: fields)).body.text()
        let second = try await client.get("http://far.test/").body.text()
        #expect(first == "a" && second == "b")
        let requests = request(origin, 0).split(separator: "\r\n\r\n")
        #expect(requests[0].contains("Proxy-Authorization: Digest x") && !requests[0].contains("Basic"))
        #expect(requests[1].contains("Proxy-Authorization: Basic dTpw"))
        await client.shutdown()
        await origin.shutdown()
    }
}
