// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineOrigin
import LupineTLS
import LupineTestKit
import Testing

@testable import LupineTransport

/// The choice of the HTTP version: by ALPN over TLS, by the client's configuration without TLS.
@Suite struct HTTP2NegotiationTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let client: HTTPVersions
        let server: [String]
        /// The version that the client must speak; nil if the connection must fail.
        let expected: HTTPVersion?
    }

    static let rows = [
        Row(
            testDescription: "both know both", client: [.http11, .http2], server: ["h2", "http/1.1"],
            expected: .http2),
        Row(
            testDescription: "the server has HTTP/1.1 alone", client: [.http11, .http2],
            server: ["http/1.1"], expected: .http11),
        Row(
            testDescription: "the server does not know ALPN", client: [.http11, .http2], server: [],
            expected: .http11),
        Row(
            testDescription: "the server has HTTP/2 alone", client: [.http11, .http2], server: ["h2"],
            expected: .http2),
        Row(
            testDescription: "the client has HTTP/1.1 alone", client: .http11, server: ["h2", "http/1.1"],
            expected: .http11),
        Row(
            testDescription: "the client wants HTTP/2", client: .http2, server: ["http/1.1", "h2"],
            expected: .http2),
        Row(
            testDescription: "the client wants HTTP/2 and does not get it", client: .http2, server: [],
            expected: nil),
    ]

    @Test("[H-3.4] over TLS the client speaks the version that ALPN has chosen", arguments: rows)
    func theChosenVersionIsSpoken(
        _ row: Row
    ) async throws {
        var serving = try SecureStage.serving { $0.applicationProtocols = row.server }
        serving.http2 = HTTP2Behaviour()
        try await withSecureStack(serving, settings: .with { $0.versions = row.client }) { client, origin in
            for isReused in [false, true] {
                do throws(TransportError) {
                    let response = try await client.get(SecureStage.url(origin, "/get"))
                    #expect(try await response.body.text().contains("good.test"))
                    let metrics = response.body.metrics
                    #expect(metrics?.version == row.expected)
                    #expect(metrics?.isReusedConnection == isReused)
                    if row.expected == .http2 { #expect(metrics?.applicationProtocol == "h2") }
                } catch {
                    #expect(row.expected == nil)
                    #expect(
                        error
                            == .tls(host: "good.test", port: origin.port, .http2NotChosen(nil)))
                }
            }
        }
    }

    @Test(
        "[H-14.1] a server that chooses HTTP/2 with a suite without ephemeral keys, or without authenticated encryption",
        arguments: [
            "AES128-GCM-SHA256", "ECDHE-RSA-AES128-SHA256", "ECDHE-RSA-AES256-SHA384", "ECDHE-RSA-AES128-SHA",
        ])
    func aCipherForbiddenInHTTP2(_ list: String) async throws {
        var serving = try SecureStage.serving(["rsa"]) { tls in
            tls.applicationProtocols = ["h2"]
            tls.ignoresHTTP2Requirements = true
            tls.maximumVersion = .v1_2
            tls.cipherList = list
        }
        serving.http2 = HTTP2Behaviour()
        let settings = SettingsChange.with {
            $0.versions = [.http11, .http2]
            $0.tls.cipherList = list
        }
        try await withSecureStack(serving, settings: settings) { client, origin in
            let error = await failure { () throws(TransportError) in
                try await client.get(SecureStage.url(origin, host: "rsa.test", "/get"))
            }
            #expect(error == .tls(host: "rsa.test", port: origin.port, .cipherNotShared))
            // The client is the one that refuses: the server's handshake has succeeded.
            let handshake = try #require(await origin.handshake(on: 0))
            #expect(handshake.failure == nil && handshake.info?.applicationProtocol == "h2")
        }
    }

    @Test func contentBothWaysInsideTLS() async throws {
        var serving = try SecureStage.serving { $0.applicationProtocols = ["h2"] }
        serving.http2 = HTTP2Behaviour()
        try await withSecureStack(serving, settings: .with { $0.versions = .http2 }) { client, origin in
            origin.route("POST", "/mirror") { request throws(Refusal) in
                OriginResponse(body: .bytes(request.body))
            }
            let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            let response = try await client.send(
                HTTPRequest(method: .post, url: SecureStage.url(origin, "/mirror"), body: .bytes(bytes)))
            #expect(try await response.body.collect() == bytes)
        }
    }

    /// The server sends first: its settings follow the proxy's response in the same octets.
    @Test func throughATunnel() async throws {
        var serving = OriginConfiguration()
        let opening = Array("HTTP/1.1 200 OK\r\n\r\n".utf8) + ServerFrames(acknowledges: false).octets
        serving.script = ScriptPlan(
            .expectHead, .send(opening), .expectRequest(1), .send(ServerFrames.bare.reply(1, "tunnelled")),
            .stall)
        let origin = try OriginServer.start(configuration: serving)
        let client = HTTPClient(
            configuration: .with {
                $0.versions = .http2
                $0.proxy = .url(origin.url)
            })
        let response = try await client.get("http://far.test/")
        #expect(try await response.body.text() == "tunnelled")
        #expect(response.body.metrics?.isProxyConnection == true)
        await client.shutdown()
        await origin.shutdown()
    }

    @Test func noVersionAtAll() async throws {
        let client = HTTPClient(configuration: .with { $0.versions = [] })
        let error = await failure { () throws(TransportError) in try await client.get("http://127.0.0.1:1/") }
        #expect(error == .unsupported("a client that speaks no version of HTTP"))
        await client.shutdown()
    }
}
