// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineHTTP2
import LupineOrigin
import LupineTLS
import LupineTestKit
import Testing

@testable import LupineTransport

/// One connection for several host names, over real sockets. The certificate of the fixtures is for `good.test` and `localhost`.
@Suite struct HTTP2CoalescingTests {
    /// Runs `body` with an origin that chooses HTTP/2, and answers requests for `/` with the host that they name.
    private func withOrigin(
        _ names: [String] = ["good"], settings: SettingsChange = .none,
        _ change: (inout TLSServerConfiguration) throws -> Void = { _ in },
        _ body: (HTTPClient, OriginServer) async throws -> Void
    ) async throws {
        var serving = try SecureStage.serving(names) {
            $0.applicationProtocols = ["h2", "http/1.1"]
            try change(&$0)
        }
        serving.http2 = HTTP2Behaviour()
        try await withSecureStack(serving, settings: settings) { client, origin in
            origin.route("GET", "/") { request throws(Refusal) in
                OriginResponse(body: .bytes(Array((request.field("host") ?? "").utf8)))
            }
            try await body(client, origin)
        }
    }

    private func get(_ client: HTTPClient, _ origin: OriginServer, _ host: String) async throws -> String {
        try await client.get(SecureStage.url(origin, host: host)).body.text()
    }

    @Test("[H-12.13] a connection carries requests for another name of its certificate, at the same address")
    func sharedByTwoNames() async throws {
        try await withOrigin { client, origin in
            #expect(try await get(client, origin, "good.test") == "good.test:\(origin.port)")
            for _ in 0..<2 {
                let response = try await client.get(SecureStage.url(origin, host: "localhost"))
                #expect(try await response.body.text() == "localhost:\(origin.port)")
                #expect(response.body.metrics?.isReusedConnection == true)
            }
            #expect(origin.counts.connectionsAccepted == 1)
        }
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var names = ["good"]
        var other = "localhost"
        var change: @Sendable (inout HTTPClient.Configuration) throws -> Void = { _ in }
    }

    static let rows = [
        Row(
            testDescription: "the certificate is not for the other name", names: ["good", "ecdsa"],
            other: "ecdsa.test"),
        Row(testDescription: "coalescing is turned off") { $0.coalescesConnections = false },
        Row(testDescription: "HTTP/1.1 is spoken") { $0.versions = .http11 },
        Row(testDescription: "a custom evaluator") {
            $0.trust = .composite([.default, .custom { _, reply in reply(.success(())) }])
        },
        Row(testDescription: "an evaluator that does not check the host") {
            $0.trust = .system(checksHost: false)
        },
        Row(testDescription: "trust is not evaluated") { $0.trust = .disabled },
        Row(testDescription: "an identity") { $0.tls.identity = try SecureStage.identity("client-ecdsa") },
    ]

    @Test("[H-12.13] conditions that forbid it", arguments: rows) func forbiddingConditions(_ row: Row)
        async throws
    {
        let failed = Box<(any Error)?>(nil)
        let change = SettingsChange.with { settings in
            do { try row.change(&settings) } catch let error { failed.update { $0 = error } }
        }
        try await withOrigin(row.names, settings: change) { client, origin in
            if let error = failed.value { throw error }
            for host in ["good.test", row.other] {
                #expect(try await get(client, origin, host) == "\(host):\(origin.port)")
            }
            #expect(origin.counts.connectionsAccepted == 2)
        }
    }

    @Test("[H-12.13] another address of the other name") func anotherAddress() async throws {
        let (first, second) = try twoAddresses()
        let change = SettingsChange.with {
            $0.overrides[.init(host: "localhost", port: first.port)] = [second.address]
        }
        let client = HTTPClient(configuration: SecureStage.settings(first, change.change))
        for host in ["good.test", "localhost"] {
            #expect(try await client.get(SecureStage.url(first, host: host, "/get")).head.status.code == 200)
        }
        #expect(first.counts.connectionsAccepted == 1 && second.counts.connectionsAccepted == 1)
        await client.shutdown()
        await first.shutdown()
        await second.shutdown()
    }

    /// Starts two origins with the same port, on two loopback addresses.
    private func twoAddresses() throws -> (OriginServer, OriginServer) {
        var serving = try SecureStage.serving { $0.applicationProtocols = ["h2"] }
        serving.http2 = HTTP2Behaviour()
        while true {
            let first = try OriginServer.start(configuration: serving)
            let address = try #require(SocketAddress(literal: "127.0.0.2", port: first.port))
            do { return (first, try OriginServer.start(at: address, configuration: serving)) } catch {
                // The port is in use on the second address.
                first.shutdownAndWait()
            }
        }
    }

    @Test("[H-12.14] after 421 the request and later ones use the origin's own connection")
    func misdirected() async throws {
        try await withOrigin { client, origin in
            let requestCount = Box(0)
            origin.route("PUT", "/") { request throws(Refusal) in
                requestCount.update { $0 += 1 }
                return requestCount.value == 1
                    ? OriginResponse(421) : OriginResponse(body: .bytes(request.body))
            }
            _ = try await get(client, origin, "good.test")
            for number in 0..<2 {
                let response = try await client.send(
                    HTTPRequest(
                        method: .put, url: SecureStage.url(origin, host: "localhost"),
                        body: .bytes([1, 2, UInt8(number)])))
                #expect(response.head.status.code == 200)
                #expect(try await response.body.collect() == [1, 2, UInt8(number)])
            }
            #expect(requestCount.value == 3)
            #expect(origin.counts.connectionsAccepted == 2)
        }
    }

    @Test("[H-12.14] 421 is delivered to the connection's own origin, or if content cannot be replayed")
    func deliveredMisdirection() async throws {
        try await withOrigin { client, origin in
            origin.route("PUT", "/") { _ throws(Refusal) in OriginResponse(421) }
            _ = try await get(client, origin, "good.test")
            let isGiven = Box(false)
            let oneTimeBody = HTTPRequest.Body.stream(length: 1) {
                if isGiven.value { return nil }
                isGiven.update { $0 = true }
                return [1]
            }
            for (host, body) in [("good.test", .bytes([1])), ("localhost", oneTimeBody)] {
                let response = try await client.send(
                    HTTPRequest(method: .put, url: SecureStage.url(origin, host: host), body: body))
                #expect(response.head.status.code == 421)
            }
            #expect(origin.counts.connectionsAccepted == 1)
        }
    }

    @Test("[H-12.13] an error names the host that was asked for") func errorsNameTheHost() async throws {
        try await withOrigin { client, origin in
            origin.route(
                "GET", "/reset",
                .chosen { _ throws(Refusal) in .perform(StreamScript([.reset(.internalError)])) })
            origin.route(
                "POST", "/end",
                .chosen { _ throws(Refusal) in .perform(StreamScript([.end(resetting: true)])) })
            _ = try await get(client, origin, "good.test")
            let reset = await failure { () throws(TransportError) in
                try await client.get(SecureStage.url(origin, host: "localhost", "/reset"))
            }
            #expect(reset == .http2(host: "localhost", port: origin.port, .reset(.internalError)))
            let ended = await failure { () throws(TransportError) in
                try await client.send(
                    HTTPRequest(method: .post, url: SecureStage.url(origin, host: "localhost", "/end")))
            }
            let text = ended.map { "\($0)" } ?? ""
            #expect(text.contains("localhost:\(origin.port)"), "\(text)")
            #expect(origin.counts.connectionsAccepted == 1)
        }
    }
}
