// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineOrigin
import LupineTLS
import LupineTestKit
import Testing

@testable import Lupine

/// Proxies that require a credential for each user, and servers that send a challenge as if they were proxies.
@Suite(.timeLimit(.minutes(10))) struct HostileProxyCredentialTests {
    typealias Scheme = HostileCredentialTests.Scheme
    typealias CredentialSource = HostileCredentialTests.CredentialSource

    @Test(
        "[U-11.17] a proxy that reads requests receives each user's own credential",
        arguments: Scheme.allCases)
    func proxies(_ scheme: Scheme) async throws {
        let origin = try LupineOrigin.Origin.start(
            configuration: {
                var serving = OriginConfiguration()
                serving.recordedBytes = 1 << 16
                return serving
            }())
        origin.route("GET", "/behind") { request throws(Refusal) in
            if request.field("Proxy-Authorization") != nil { return OriginResponse(204) }
            var response = OriginResponse(407)
            try response.add(
                "Proxy-Authenticate",
                scheme == .basic
                    ? "Basic realm=\"proxy\"" : "Digest realm=\"proxy\", nonce=\"n\", qop=\"auth\"")
            return response
        }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 3_600
        configuration.httpMaximumConnectionsPerHost = 1
        configuration.connectionProxyDictionary = [
            "HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": Int(origin.port),
        ]
        let session = Session(configuration: configuration)
        for (user, status) in [
            ("alice", 204), ("bob", 204), (nil, 407), ("alice", 204), ("bob", 204), (nil, 407),
        ] {
            let response = await HostileCredentialTests.request(
                user, .request, "http://far.test/behind", session
            ).answered()
            #expect(response.response?.statusCode == status)
        }
        session.session.invalidateAndCancel()
        await origin.shutdown()
        let counts = scheme == .digest ? ["#1", "#2"] : ["", ""]
        #expect(
            HostileCredentialTests.usersSent(to: origin, "Proxy-Authorization", counts: true)
                == [
                    "-", "alice\(counts[0])", "-", "bob\(counts[0])", "-", "alice\(counts[1])",
                    "bob\(counts[1])", "-",
                ])
    }

    /// Runs `body` with an origin that is the session's proxy, and responds in place of servers of any name.
    private static func withProxy(
        _ body: (LupineOrigin.Origin, Session) async throws -> Void
    ) async throws {
        var serving = OriginConfiguration()
        serving.recordedBytes = 1 << 16
        let origin = try LupineOrigin.Origin.start(configuration: serving)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 3_600
        configuration.httpMaximumConnectionsPerHost = 1
        configuration.connectionProxyDictionary = [
            "HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": Int(origin.port),
        ]
        let session = Session(configuration: configuration)
        let result: Result<Void, any Error>
        do { result = .success(try await body(origin, session)) } catch { result = .failure(error) }
        session.session.invalidateAndCancel()
        await origin.shutdown()
        try result.get()
    }

    @Test(
        "[U-11.17, U-10.5] after a redirect to another origin a 407 does not get the request's credential",
        arguments: Scheme.allCases, [false, true])
    func proxiesAfterRedirect(_ scheme: Scheme, challengesFirst: Bool) async throws {
        try await Self.withProxy { origin, session in
            let challenge = { @Sendable () throws(Refusal) -> OriginResponse in
                var response = OriginResponse(407)
                try response.add(
                    "Proxy-Authenticate",
                    scheme == .basic
                        ? "Basic realm=\"proxy\"" : "Digest realm=\"proxy\", nonce=\"n\", qop=\"auth\"")
                return response
            }
            origin.route("GET", "/home") { request throws(Refusal) in
                if challengesFirst, request.field("Proxy-Authorization") == nil { return try challenge() }
                var response = OriginResponse(302)
                try response.add("Location", "http://evil.test/challenge")
                return response
            }
            origin.route("GET", "/challenge") { request throws(Refusal) in
                request.field("Proxy-Authorization") == nil ? try challenge() : OriginResponse(204)
            }
            for _ in 0..<2 {
                let request = HostileCredentialTests.request(
                    "alice", .request, "http://home.test/home", session)
                #expect(await request.answered().response?.statusCode == 407)
            }
            let names = HostileCredentialTests.usersSent(to: origin, "Proxy-Authorization")
            // Each origin has its own connection.
            #expect(names == (challengesFirst ? ["-", "alice", "alice", "-", "-"] : ["-", "-", "-", "-"]))
        }
    }

    @Test("[U-11.17] no proxy receives the password of a request to a server that uses TLS")
    func passwordOfSecureServer() async throws {
        var serving = OriginConfiguration()
        serving.recordedBytes = 1 << 16
        serving.script = ScriptPlan([
            Script([
                .expectHead,
                .send("HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"proxy\"\r\n\r\n"), .close,
            ])
        ])
        let origin = try LupineOrigin.Origin.start(configuration: serving)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 3_600
        configuration.connectionProxyDictionary = [
            "HTTPSEnable": 1, "HTTPSProxy": "127.0.0.1", "HTTPSPort": Int(origin.port),
        ]
        let session = Session(configuration: configuration)
        let response = await HostileCredentialTests.request(
            "alice", .request, "https://good.test/get", session
        ).answered()
        session.session.invalidateAndCancel()
        await origin.shutdown()
        #expect(response.response == nil)
        #expect((response.error?.underlyingError as? URLError)?.code == .cannotConnectToHost)
        #expect(HostileCredentialTests.usersSent(to: origin, "Proxy-Authorization") == ["-"])
    }

    /// With Digest, the request's own credential opens the tunnels. With Basic, a password for the proxy can only come from a
    /// delegate.
    @Test(
        "[U-11.17, U-9.17] a tunnel that one user's credential has opened carries no other user's requests",
        arguments: Scheme.allCases)
    func tunnels(_ scheme: Scheme) async throws {
        let source: CredentialSource = scheme == .digest ? .request : .delegate
        var serving = OriginConfiguration()
        serving.recordedBytes = 1 << 16
        serving.tls = TLSServerConfiguration(identities: [
            TLSServerIdentity(
                try TLSIdentity(pemChain: PKI.text("good-chain.pem"), pemKey: PKI.text("good.key")))
        ])
        let challenge =
            scheme == .basic ? "Basic realm=\"proxy\"" : "Digest realm=\"proxy\", nonce=\"n\", qop=\"auth\""
        let refuses = Script(
            [.expectHead, .send("HTTP/1.1 407 No\r\nProxy-Authenticate: \(challenge)\r\n\r\n"), .close],
            on: .socket)
        let opens = Script(
            [.expectHead, .send("HTTP/1.1 200 OK\r\n\r\n"), .startTLS(), .speakHTTP], on: .socket)
        // For alice, bob and no user; then for alice and bob again, whose delegate supplies the credential only after a refusal,
        // in their existing tunnels.
        serving.script = ScriptPlan([refuses, opens, refuses, opens, refuses, refuses, refuses])
        let origin = try LupineOrigin.Origin.start(configuration: serving)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 3_600
        configuration.lupine.tls.roots = .certificates(try Certificate.pem(PKI.text("root.pem")))
        configuration.connectionProxyDictionary = [
            "HTTPSEnable": 1, "HTTPSProxy": "127.0.0.1", "HTTPSPort": Int(origin.port),
        ]
        let session = Session(
            configuration: configuration,
            delegate: source == .delegate ? HostileCredentialTests.AnsweringDelegate() : SessionDelegate())
        for (user, status) in [("alice", 200), ("bob", 200), (nil, nil), ("alice", 200), ("bob", 200)] {
            let response = await HostileCredentialTests.request(
                user, source, "https://good.test/get", session
            ).answered()
            #expect(response.response?.statusCode == status, "\(user ?? "nobody")")
        }
        session.session.invalidateAndCancel()
        await origin.shutdown()
        let names = (0..<origin.counts.connectionsAccepted).map { index in
            CredentialUsers.read(origin.received(on: index), "Proxy-Authorization").first.map {
                String($0.prefix { $0 != "#" })
            } ?? "?"
        }
        #expect(names == ["-", "alice", "-", "bob", "-"] + (source == .delegate ? ["-", "-"] : []))
    }
}
