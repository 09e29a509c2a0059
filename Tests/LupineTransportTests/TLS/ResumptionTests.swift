// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineOrigin
import LupineTLS
import Testing

@testable import LupineTransport

/// Sessions of connections that later connections resume.
@Suite struct ResumptionTests {
    /// Returns the configuration of an origin that answers once and closes, so that each request needs a new connection.
    private static func closing(_ version: TLSVersion, tickets: Bool = true) throws -> OriginConfiguration {
        let plan = ScriptPlan(.expectHead, .reply("ok", "Connection: close\r\n"), .close)
        return try SecureStage.serving(["good"], plan) { tls in
            tls.maximumVersion = version
            tls.issuesTickets = tickets
        }
    }

    @Test(arguments: [TLSVersion.v1_2, .v1_3])
    func laterConnectionsResume(_ version: TLSVersion) async throws {
        try await withSecureStack(Self.closing(version)) { client, origin in
            for index in 0..<20 {
                let response = try await client.get(SecureStage.url(origin))
                _ = try await response.body.collect()
                #expect(response.body.metrics?.isTLSResumed == (index > 0))
            }
            #expect(origin.counts.handshakesCompleted == 20 && origin.counts.handshakesResumed == 19)
        }
    }

    @Test func nothingIsResumedIfTheConfigurationForbidsIt() async throws {
        try await withSecureStack(
            Self.closing(.v1_3), settings: .with { $0.tls.resumesSessions = false }
        ) { client, origin in
            for _ in 0..<3 { _ = try await client.get(SecureStage.url(origin)).body.collect() }
            #expect(origin.counts.handshakesCompleted == 3 && origin.counts.handshakesResumed == 0)
        }
    }

    @Test func nothingIsResumedAcrossPolicies() async throws {
        try await withSecureStack(Self.closing(.v1_3)) { client, origin in
            let policies: [TrustEvaluator] = [.default, .system(checksHost: false), .disabled]
            for trust in policies {
                let request = try HTTPRequest(url: SecureStage.url(origin), trust: trust)
                _ = try await client.send(request).body.collect()
            }
            #expect(origin.counts.handshakesResumed == 0)
        }
    }

    @Test func nothingIsResumedWithAnotherHost() async throws {
        try await withSecureStack(Self.closing(.v1_3)) { client, origin in
            for host in ["good.test", "localhost"] {
                _ = try await client.get(SecureStage.url(origin, host: host)).body.collect()
            }
            #expect(origin.counts.handshakesCompleted == 2 && origin.counts.handshakesResumed == 0)
        }
    }

    /// A closure is asked about each connection again, with the chain kept with the session; its refusal counts.
    @Test func aClosureIsAskedAboutResumedConnectionsToo() async throws {
        let evaluationCount = Box(0)
        let evaluator = TrustEvaluator.custom { trust, reply in
            evaluationCount.update { $0 += 1 }
            #expect(trust.certificates.count > 1)
            reply(evaluationCount.value < 3 ? .success(()) : .failure(.refused("enough")))
        }
        try await withSecureStack(Self.closing(.v1_3), settings: .with { $0.trust = evaluator }) {
            client, origin in
            let url = SecureStage.url(origin)
            for _ in 0..<2 { _ = try await client.get(url).body.collect() }
            #expect(origin.counts.handshakesResumed == 1)
            let error = await failure { () throws(TransportError) in try await client.get(url) }
            #expect(
                error == .tls(host: "good.test", port: origin.port, .untrusted(.refused("enough"))))
            #expect(evaluationCount.value == 3 && origin.received(on: 2).isEmpty)
        }
    }

    /// The chain of a session may have expired, or be no longer acceptable, while the server already has another one.
    @Test(arguments: [TLSVersion.v1_2, .v1_3])
    func afterARefusalTheNextHandshakeIsAFullOne(_ version: TLSVersion) async throws {
        let evaluationCount = Box(0)
        let evaluator = TrustEvaluator.custom { _, reply in
            evaluationCount.update { $0 += 1 }
            reply(evaluationCount.value == 2 ? .failure(.refused("that chain is over")) : .success(()))
        }
        try await withSecureStack(
            Self.closing(version), settings: .with { $0.trust = evaluator }
        ) { client, origin in
            let url = SecureStage.url(origin)
            _ = try await client.get(url).body.collect()
            let error = await failure { () throws(TransportError) in try await client.get(url) }
            #expect(
                error
                    == .tls(host: "good.test", port: origin.port, .untrusted(.refused("that chain is over"))))
            let response = try await client.get(url)
            _ = try await response.body.collect()
            #expect(response.body.metrics?.isTLSResumed == false)
        }
    }

    /// A single-use session is used once, and only under its own key.
    @Test func ticketsAreUsedOnce() async throws {
        try await withSecurePool(Self.closing(.v1_3)) { stage in
            let profile = SecurePool.profile()
            let peer = SessionPeer(host: "good.test", port: stage.origin.port, proxy: nil)
            try await stage.send(profile: profile)
            var tickets = 0
            while let session = profile.takeSession(for: peer) {
                tickets += 1
                #expect(session.isSingleUse && session.acceptedUntil != nil)
            }
            #expect(tickets == 2)
            #expect(profile.takeSession(for: peer) == nil)
        }
    }
}
