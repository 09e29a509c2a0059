// SPDX-License-Identifier: MIT

import LupineOrigin
import LupineTLS
import LupineTestKit
import Testing

/// Tests of the origin over TLS: what it negotiates, presents and counts.
@Suite struct TLSTests {
    // MARK: names

    struct Name: CustomTestStringConvertible {
        let shows: String
        let host: String
        let certificate: String
        var asked: String? = ""
        var testDescription: String { shows }
    }

    @Test(arguments: [
        Name(shows: "the name of the first", host: "first.test", certificate: "first"),
        Name(shows: "the name of the second", host: "second.test", certificate: "second"),
        Name(shows: "capitals", host: "SECOND.test", certificate: "second"),
        Name(shows: "a wildcard", host: "any.wild.test", certificate: "wildcard"),
        Name(shows: "a wildcard is one label", host: "a.b.wild.test", certificate: "first"),
        Name(shows: "a name that nobody has", host: "nobody.test", certificate: "first"),
        Name(shows: "an address is no name", host: "127.0.0.1", certificate: "first", asked: nil),
    ])
    func eachNameHasItsCertificate(_ row: Name) async throws {
        let configuration = try SecureOrigin.configuration(["first", "second", "wildcard"]) { tls in
            tls.identities[2].serverNames = ["*.wild.test"]
        }
        try await withOrigin(configuration) { origin in
            let client = try RawClient(port: origin.port)
            var shown: [Certificate] = []
            try client.startTLS(SecureOrigin.client(), host: row.host) { trust in
                shown = trust.certificates
                return .success(())
            }
            let expected = try SecureOrigin.certificate(row.certificate)
            #expect(shown.first == expected)
            #expect(shown.count == 2, "the leaf and its intermediate")
            let handshake = try #require(await origin.handshake(on: 0))
            #expect(handshake.serverName?.lowercased() == (row.asked == nil ? nil : row.host.lowercased()))
        }
    }

    // MARK: versions, ciphers, protocols

    struct Agreement: CustomTestStringConvertible {
        let shows: String
        var identity = "good"
        var server: @Sendable (inout TLSServerConfiguration) -> Void = { _ in }
        var client: @Sendable (inout TLSConfiguration) -> Void = { _ in }
        let document: [String]
        var testDescription: String { shows }
    }

    @Test(arguments: [
        Agreement(
            shows: "the newest version, HTTP/1.1, the name",
            document: [
                "\"tls\": true", "\"version\": \"TLSv1.3\"", "\"alpn\": \"http/1.1\"",
                "\"sni\": \"good.test\"", "\"resumed\": false", "\"client-certificate\": null",
            ]),
        Agreement(
            shows: "the server's highest version", server: { $0.maximumVersion = .v1_2 },
            document: ["\"version\": \"TLSv1.2\""]),
        Agreement(
            shows: "the client's highest version", client: { $0.maximumVersion = .v1_2 },
            document: ["\"version\": \"TLSv1.2\""]),
        Agreement(
            shows: "the server's suites", server: { $0.cipherSuites = "TLS_CHACHA20_POLY1305_SHA256" },
            document: ["\"cipher\": \"TLS_CHACHA20_POLY1305_SHA256\""]),
        Agreement(
            shows: "the server's ciphers",
            server: {
                $0.maximumVersion = .v1_2
                $0.cipherList = "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES256-GCM-SHA384"
            },
            document: ["_WITH_AES_256_GCM_SHA384\""]),
        Agreement(
            shows: "no protocol is asked for", client: { $0.applicationProtocols = [] },
            document: ["\"alpn\": null"]),
        Agreement(
            shows: "the server's preference among the protocols",
            server: { $0.applicationProtocols = ["b", "a"] },
            client: { $0.applicationProtocols = ["a", "b"] },
            document: ["\"alpn\": \"b\""]),
        Agreement(
            shows: "[H-14.1] HTTP/2 with TLS 1.2 and a suite that is good enough", identity: "rsa",
            server: {
                $0.applicationProtocols = ["h2", "http/1.1"]
                $0.maximumVersion = .v1_2
                $0.cipherList = "ECDHE-RSA-AES128-GCM-SHA256"
            }, client: { $0.applicationProtocols = ["h2", "http/1.1"] },
            document: ["\"alpn\": \"h2\"", "\"version\": \"TLSv1.2\""]),
        Agreement(
            shows: "[H-14.1] HTTP/1.1 with a suite without authenticated encryption", identity: "rsa",
            server: {
                $0.applicationProtocols = ["h2", "http/1.1"]
                $0.maximumVersion = .v1_2
                $0.cipherList = "ECDHE-RSA-AES128-SHA256"
            },
            client: {
                $0.applicationProtocols = ["h2", "http/1.1"]
                $0.cipherList = "ECDHE-RSA-AES128-SHA256"
            },
            document: ["\"alpn\": \"http/1.1\"", "CBC_SHA256\""]),
        Agreement(
            shows: "[H-14.1] HTTP/1.1 with a suite without ephemeral keys", identity: "rsa",
            server: {
                $0.applicationProtocols = ["h2", "http/1.1"]
                $0.maximumVersion = .v1_2
                $0.cipherList = "AES128-GCM-SHA256"
            },
            client: {
                $0.applicationProtocols = ["h2", "http/1.1"]
                $0.cipherList = "AES128-GCM-SHA256"
            },
            document: ["\"alpn\": \"http/1.1\"", "\"cipher\": \"TLS_RSA_WITH_AES_128_GCM_SHA256\""]),
        Agreement(
            shows: "[H-14.1] HTTP/1.1 below TLS 1.2",
            server: {
                $0.applicationProtocols = ["h2", "http/1.1"]
                $0.minimumVersion = .v1_1
                $0.maximumVersion = .v1_1
                $0.cipherList = "ALL:@SECLEVEL=0"
            },
            client: {
                $0.applicationProtocols = ["h2", "http/1.1"]
                $0.minimumVersion = .v1_1
                $0.cipherList = "ALL:@SECLEVEL=0"
            },
            document: ["\"alpn\": \"http/1.1\"", "\"version\": \"TLSv1.1\""]),
    ])
    func whatWasAgreedOn(_ row: Agreement) async throws {
        var configuration = TLSConfiguration(roots: TrustRoots(includesSystem: false))
        row.client(&configuration)
        let origin = try SecureOrigin.configuration([row.identity]) { row.server(&$0) }
        try await withSecureClient(origin, SecureOrigin.client(configuration)) { client, _ in
            let response = try client.get("/tls")
            #expect(response.status == 200)
            for part in row.document { #expect(response.text.contains(part), "\(response.text)") }
        }
    }

    /// Checks that only the protocol chosen by ALPN is spoken, whatever the client begins with.
    @Test("[H-3.4] the preface of HTTP/2 over TLS without ALPN", arguments: [[], ["http/1.1"]])
    func prefaceWithoutALPN(_ offered: [String]) async throws {
        var serving = try SecureOrigin.configuration { $0.applicationProtocols = ["h2", "http/1.1"] }
        serving.http2 = HTTP2Behaviour()
        var configuration = TLSConfiguration(roots: TrustRoots(includesSystem: false))
        configuration.applicationProtocols = offered
        try await withSecureClient(serving, SecureOrigin.client(configuration)) { client, _ in
            try client.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
            #expect(try client.receiveResponse().status == 505)
        }
    }

    @Test func withoutTLSTheDocumentSaysSo() async throws {
        try await withClient { client, _ in
            let received = try client.get("/tls").text
            #expect(received.contains("\"tls\": false"))
        }
    }

    @Test func absoluteURLsAreHTTPS() async throws {
        try await withSecureClient { client, origin in
            #expect(origin.url == "https://127.0.0.1:\(origin.port)")
            let received = try client.get("/get?a=1").text
            #expect(received.contains("\"url\": \"https://test/get?a=1\""))
            #expect(try client.get("/absolute-redirect/1")["Location"] == "https://test/get")
        }
    }

    struct Disagreement: CustomTestStringConvertible {
        let shows: String
        var identity = "good"
        var server: @Sendable (inout TLSServerConfiguration) -> Void = { _ in }
        var client: @Sendable (inout TLSConfiguration) -> Void = { _ in }
        let clientSays: TLSError
        var testDescription: String { shows }
    }

    @Test(arguments: [
        Disagreement(
            shows: "no common version", server: { $0.maximumVersion = .v1_2 },
            client: { $0.minimumVersion = .v1_3 }, clientSays: .versionNotShared),
        Disagreement(
            shows: "no common suite", server: { $0.cipherSuites = "TLS_CHACHA20_POLY1305_SHA256" },
            client: {
                $0.minimumVersion = .v1_3
                $0.cipherSuites = "TLS_AES_128_GCM_SHA256"
            }, clientSays: .cipherNotShared),
        Disagreement(
            shows: "no common protocol", client: { $0.applicationProtocols = ["other"] },
            clientSays: .alert(.noApplicationProtocol)),
        Disagreement(
            shows: "[H-14.1] HTTP/2 alone, and a suite that is not good enough", identity: "rsa",
            server: {
                $0.applicationProtocols = ["h2"]
                $0.maximumVersion = .v1_2
                $0.cipherList = "AES128-GCM-SHA256"
            },
            client: {
                $0.applicationProtocols = ["h2"]
                $0.cipherList = "AES128-GCM-SHA256"
            }, clientSays: .alert(.noApplicationProtocol)),
        Disagreement(
            shows: "an alert for everybody", server: { $0.refusalAlert = .accessDenied },
            clientSays: .alert(.accessDenied)),
        Disagreement(
            shows: "an alert about the name", server: { $0.refusalAlert = .unrecognizedName },
            clientSays: .alert(.unrecognizedName)),
    ])
    func whatCannotBeAgreedOn(_ row: Disagreement) async throws {
        var configuration = TLSConfiguration(roots: TrustRoots(includesSystem: false))
        row.client(&configuration)
        let context = try SecureOrigin.client(configuration)
        let origin = try SecureOrigin.configuration([row.identity]) { row.server(&$0) }
        try await withOrigin(origin) { origin in
            let client = try RawClient(port: origin.port)
            #expect(throws: row.clientSays) { try client.startTLS(context, host: "good.test") }
            let handshake = try #require(await origin.handshake(on: 0))
            #expect(handshake.failure != nil)
            #expect(origin.counts.handshakesFailed == 1)
            #expect(origin.counts.handshakesCompleted == 0)
            #expect(origin.received(on: 0) == [])
        }
    }

    @Test func anOriginWithoutIdentityDoesNotStart() async throws {
        let configuration = try SecureOrigin.configuration([])
        #expect(throws: OriginError.cannotSpeakTLS(.configuration(.noIdentity))) {
            try Origin.start(configuration: configuration)
        }
    }

    @Test func theStapledAnswerIsHandedOut() async throws {
        let answer = try PKI.bytes("ocsp/good.der")
        for version in [TLSVersion.v1_2, .v1_3] {
            let configuration = try SecureOrigin.configuration(["good-ocsp", "good"]) { tls in
                tls.identities[0].stapledResponse = answer
            }
            try await withOrigin(configuration) { origin in
                for (host, expected) in [("good-ocsp.test", answer), ("good.test", nil)] {
                    var stapled: [UInt8]?
                    try RawClient(port: origin.port).startTLS(SecureOrigin.client(version), host: host) {
                        stapled = $0.stapledResponse
                        return .success(())
                    }
                    #expect(stapled == expected, "\(host) \(version)")
                }
            }
        }
    }

    // MARK: sessions

    struct Tickets: CustomTestStringConvertible {
        let version: TLSVersion
        let issued: Bool
        var testDescription: String { "\(version), tickets \(issued ? "on" : "off")" }
    }

    @Test(arguments: [
        Tickets(version: .v1_2, issued: true), Tickets(version: .v1_2, issued: false),
        Tickets(version: .v1_3, issued: true), Tickets(version: .v1_3, issued: false),
    ])
    func sessionsAreResumedWithTicketsOnly(_ row: Tickets) async throws {
        let configuration = try SecureOrigin.configuration { $0.issuesTickets = row.issued }
        let context = try SecureOrigin.client(row.version)
        try await withOrigin(configuration) { origin in
            var session: TLSSession?
            for index in 0..<3 {
                let client = try RawClient(port: origin.port)
                try client.startTLS(context, host: "good.test", resuming: session)
                let isResumed = row.issued && index > 0
                #expect(try client.get("/tls").text.contains("\"resumed\": \(isResumed)"))
                #expect(client.engine?.info.isResumed == isResumed)
                // In TLS 1.2 the first ticket is used again.
                let next = client.engine?.takeSessions().last
                session = next ?? (row.version == .v1_2 ? session : nil)
            }
            #expect(origin.counts.handshakesCompleted == 3)
            #expect(origin.counts.handshakesResumed == (row.issued ? 2 : 0))
        }
    }

    // MARK: content

    @Test func largeBodiesInBothDirections() async throws {
        for version in [TLSVersion.v1_2, .v1_3] {
            var configuration = try SecureOrigin.configuration()
            configuration.recordedBytes = 0
            try await withSecureClient(configuration, SecureOrigin.client(version)) { client, _ in
                let body = (0..<2 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 9) }
                let sent = try client.request("POST", "/hash", body: body)
                let plain = try await withClient { client, _ in
                    try client.request("POST", "/hash", body: body)
                }
                #expect(sent.text == plain.text)
                let bytes = try client.get("/bytes/3000000?seed=7")
                let plainBytes = try await withClient { client, _ in try client.get("/bytes/3000000?seed=7") }
                #expect(bytes.body == plainBytes.body)
                #expect(bytes.body.count == 3_000_000)
            }
        }
    }

    @Test func aClientThatReadsSlowly() async throws {
        var configuration = try SecureOrigin.configuration()
        configuration.socketBufferSize = 4_096
        try await withOrigin(configuration) { origin in
            let client = try RawClient(port: origin.port, receiveBuffer: 2_048)
            try client.startTLS(SecureOrigin.client(), host: "good.test")
            try client.send("GET /bytes/300000?seed=1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            var body = try client.receiveHead()
            while body.body.count < 300_000 { body.body += try client.receive(atMost: 777) }
            #expect(body.body.count == 300_000)
            // The end is a close_notify even if the socket was full: a truncation would throw.
            #expect(try client.receive() == [])
        }
    }

    @Test func anUnreadResponseHoldsNobodyUp() async throws {
        try await withSecureClient { slow, origin in
            try slow.send("GET /infinite HTTP/1.1\r\nHost: a\r\n\r\n")
            let other = try RawClient(port: origin.port)
            try other.startTLS(SecureOrigin.client(), host: "good.test")
            #expect(try other.get("/get").status == 200)
            #expect(try slow.receiveHead().status == 200)
            #expect(try slow.receive(exactly: 1 << 20).count == 1 << 20)
        }
    }

    @Test func pipelinedInOneRecordAndOneByteAtATime() async throws {
        try await withSecureClient { client, origin in
            let request = "GET /get HTTP/1.1\r\nHost: a\r\n\r\n"
            try client.send(String(repeating: request, count: 100))
            for _ in 0..<100 { #expect(try client.receiveResponse().status == 200) }
            for octet in request.utf8 { try client.send([octet]) }
            #expect(try client.receiveResponse().status == 200)
            #expect(origin.counts.requests == 101)
            #expect(origin.received(on: 0) == Array(String(repeating: request, count: 101).utf8))
        }
    }

    @Test func theLastResponseEndsWithCloseNotify() async throws {
        try await withSecureClient { client, _ in
            let response = try client.get("/get", "Connection: close\r\n")
            #expect(response.status == 200)
            #expect(try client.receive() == [])
        }
    }

    @Test func aClientThatGoesWithoutCloseNotifyIsLet() async throws {
        try await withSecureClient { client, origin in
            try client.send("GET /delay/60 HTTP/1.1\r\nHost: a\r\n\r\n")
            client.closeOurHalf()
            let other = try RawClient(port: origin.port)
            try other.startTLS(SecureOrigin.client(), host: "good.test")
            #expect(try other.get("/get").status == 200)
        }
    }
}
