// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineOrigin
import LupineTLS
import LupineTestKit
import Testing

@testable import LupineTransport

/// TLS through every kind of proxy, and to the proxy itself.
@Suite struct SecureProxyTests {
    /// Runs `body` with an origin whose script plays the proxy and the origin behind it.
    private func withProxy(
        _ scheme: String, _ steps: [Script.Step], isSecure: Bool,
        settings change: SettingsChange = .none,
        _ body: (HTTPClient, OriginServer) async throws -> Void
    ) async throws {
        var serving = try SecureStage.serving(["good"], nil)
        serving.script = ScriptPlan([Script(steps + [.stall], on: isSecure ? .content : .socket)])
        let origin = try OriginServer.start(configuration: serving)
        let client = HTTPClient(
            configuration: SecureStage.settings(origin) { settings in
                let host = isSecure ? "localhost" : "127.0.0.1"
                settings.proxy = .url("\(scheme)://\(host):\(origin.port)")
                change.change(&settings)
            })
        do {
            try await body(client, origin)
        } catch {
            await client.shutdown()
            await origin.shutdown()
            throw error
        }
        await client.shutdown()
        await origin.shutdown()
    }

    private static let established = Script.Step.send("HTTP/1.1 200 Connected\r\n\r\n")

    @Test func throughATunnel() async throws {
        let steps: [Script.Step] = [
            .expectHead, Self.established, .startTLS(), .expectHead, .reply("one"), .expectHead,
            .reply("two"),
        ]
        try await withProxy("http", steps, isSecure: false) { client, origin in
            for text in ["one", "two"] {
                let response = try await client.get("https://good.test/")
                let body = try await response.body.text()
                #expect(body == text)
                #expect(response.body.metrics?.isProxyConnection == true)
                #expect(response.body.metrics?.tlsVersion == .v1_3)
            }
            #expect(client.connectionsOpened == 1)
        }
    }

    @Test func throughSOCKS() async throws {
        let steps: [Script.Step] = [
            .expectBytes(3), .send([5, 0]), .expectBytes(4 + 1 + 9 + 2),
            .send([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]), .startTLS(), .expectHead, .reply("one"),
        ]
        try await withProxy("socks5h", steps, isSecure: false) { client, origin in
            let body = try await client.get("https://good.test/").body.text()
            #expect(body == "one")
        }
    }

    /// TLS to the proxy, CONNECT inside it, and TLS to the origin inside that.
    @Test func throughAProxyOverTLS() async throws {
        let large = [UInt8](repeating: 7, count: 300_000)
        let steps: [Script.Step] = [
            .expectHead, Self.established, .startTLS(), .expectHead, .expectBytes(300_000), .reply("one"),
            .expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n"), .send(large),
        ]
        try await withProxy("https", steps, isSecure: true) { client, origin in
            let up = try await client.send(
                HTTPRequest(method: .post, url: "https://good.test/", body: .bytes(large)))
            let text = try await up.body.text()
            #expect(text == "one")
            let down = try await client.get("https://good.test/").body.collect()
            let isComplete = down == large
            #expect(isComplete && client.connectionsOpened == 1)
            #expect(origin.handshakes(on: 0).map(\.serverName) == ["localhost", "good.test"])
        }
    }

    @Test func plainRequestsInsideTheProxysTLS() async throws {
        try await withProxy("https", [.expectHead, .reply("one")], isSecure: true) { client, origin in
            let response = try await client.get("http://plain.test/x")
            let text = try await response.body.text()
            #expect(text == "one" && response.body.metrics?.tlsVersion == nil)
            let request = String(decoding: origin.received(on: 0), as: UTF8.self)
            #expect(request.hasPrefix("GET http://plain.test/x HTTP/1.1\r\n"))
        }
    }

    @Test func anUntrustedProxyReceivesNothing() async throws {
        let pins = TrustEvaluator.pinnedCertificates([try SecureStage.certificate("ecdsa")])
        try await withProxy(
            "https", [.expectHead, Self.established], isSecure: true, settings: .with { $0.proxyTrust = pins }
        ) { client, origin in
            let error = await failure { () throws(TransportError) in
                try await client.get("https://good.test/")
            }
            guard case .tls("localhost", _, .untrusted(.certificateNotPinned)) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            _ = await origin.handshake(on: 0)
            #expect(origin.received(on: 0).isEmpty)
        }
    }

    /// A proxy that closes as soon as it has accepted is reported at once, not after the time-out.
    @Test func aProxyThatClosesAtOnce() async throws {
        try await withProxy("http", [.halfClose], isSecure: false) { client, origin in
            let error = await failure { () throws(TransportError) in
                try await client.get("https://good.test/")
            }
            guard case .tunnel(_, .http(.truncated)) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }
}
