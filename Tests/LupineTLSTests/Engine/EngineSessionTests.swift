// SPDX-License-Identifier: MIT

import LupineTestKit
import Testing

@testable import LupineTLS

@Suite struct EngineSessionTests {
    private func connect(
        _ client: TLSClientContext, _ server: TLSServerContext, resuming session: TLSSession? = nil
    ) throws -> (EnginePair, [TLSSession]) {
        let pair = try EnginePair(client: client, server: server, resuming: session)
        pair.runHandshakes()
        try #require(pair.clientIsDone && pair.serverIsDone)
        // The tickets of TLS 1.3 arrive with the first bytes.
        #expect(try pair.transfer([1], fromClient: false) == [1])
        return (pair, pair.client.takeSessions())
    }

    @Test(arguments: TLSVersion.tested)
    func aSessionIsResumedAndYieldsTheNextOne(_ version: TLSVersion) throws {
        let client = try TLSClientContext(.test(version))
        var configuration = try TLSServerConfiguration.test()
        let staple = try PKI.bytes("ocsp/good.der")
        configuration.identities[0].stapledResponse = staple
        let server = try TLSServerContext(configuration)
        let (first, sessions) = try connect(client, server)
        #expect(!first.client.info.isResumed && !first.server.info.isResumed)
        #expect(sessions.count == (version == .v1_3 ? 2 : 1))
        #expect(first.client.takeSessions().isEmpty)
        var session = try #require(sessions.last)
        #expect(session.isSingleUse == (version == .v1_3))
        for _ in 0..<3 {
            let (next, newer) = try connect(client, server, resuming: session)
            #expect(next.client.info.isResumed && next.server.info.isResumed)
            // The engine asks about the chain and the staple of the first handshake, before this handshake is complete.
            let trust = try #require(next.trustRequests.first)
            #expect(
                trust.certificates.map(FixtureIdentity.der)
                    == session.certificates.map(FixtureIdentity.der))
            #expect(trust.certificates.count == 2 && trust.stapledResponse == staple)
            #expect(next.client.info.peerCertificates.count == 2)
            #expect(newer.count == (version == .v1_3 ? 1 : 0))
            if let newest = newer.last { session = newest }
        }
    }

    @Test(arguments: TLSVersion.tested)
    func aSessionOutlivesATruncatedConnection(_ version: TLSVersion) throws {
        let client = try TLSClientContext(.test(version))
        let server = try TLSServerContext(try .test())
        let session: TLSSession?
        do {
            let (pair, sessions) = try connect(client, server)
            session = sessions.last
            pair.toClient.isClosed = true
            #expect(throws: TLSError.truncated) { try pair.read(client: true) }
        }
        try #require(session != nil)
        let (next, _) = try connect(client, server, resuming: session)
        #expect(next.client.info.isResumed)
    }

    @Test(arguments: TLSVersion.tested)
    func nothingIsSentToARefusedResumedPeer(_ version: TLSVersion) throws {
        let client = try TLSClientContext(.test(version))
        let server = try TLSServerContext(try .test())
        let (_, sessions) = try connect(client, server)
        let pair = try EnginePair(client: client, server: server, resuming: sessions.last)
        pair.verdict = .failure(.noPins)
        pair.runHandshakes()
        #expect(pair.clientError == .untrusted(.noPins))
        #expect(throws: TLSError.untrusted(.noPins)) { try pair.client.write([1].span) }
        #expect(try pair.read(client: false) == .end)
    }

    @Test(arguments: TLSVersion.tested)
    func aServerWithoutTheSessionMakesAFullHandshake(_ version: TLSVersion) throws {
        let client = try TLSClientContext(.test(version))
        var stapling = try TLSServerConfiguration.test()
        stapling.identities[0].stapledResponse = try PKI.bytes("ocsp/good.der")
        let (_, sessions) = try connect(client, try TLSServerContext(stapling))
        let other = try TLSServerContext(try .test("deep"))
        let (next, newer) = try connect(client, other, resuming: sessions.last)
        #expect(!next.client.info.isResumed)
        // The new chain, and no part of the old one.
        #expect(next.trustRequests.count == 1 && next.trustRequests[0].certificates.count == 3)
        #expect(next.trustRequests[0].stapledResponse == nil)
        #expect(newer.last?.certificates.count == 3)
    }

    @Test(arguments: TLSVersion.tested)
    func noSessionsIfResumptionIsDisabled(_ version: TLSVersion) throws {
        var configuration = TLSConfiguration.test(version)
        configuration.resumesSessions = false
        let (_, sessions) = try connect(
            try TLSClientContext(configuration), try TLSServerContext(try .test()))
        #expect(sessions.isEmpty)
    }

    @Test(arguments: TLSVersion.tested)
    func noSessionsFromAServerWithoutTickets(_ version: TLSVersion) throws {
        var configuration = try TLSServerConfiguration.test()
        configuration.issuesTickets = false
        let (_, sessions) = try connect(
            try TLSClientContext(.test(version)), try TLSServerContext(configuration))
        #expect(sessions.isEmpty)
    }

    @Test(arguments: [
        (UInt(300), true, 300), (300, false, 300), (0, true, 0), (0, false, 7200),
        (.max, true, 604_800), (.max, false, 604_800),
    ])
    func theServerLimitsTheLifetimeOfASession(_ hint: UInt, _ singleUse: Bool, _ expected: Int) {
        #expect(TLSSession.lifetime(hint: hint, timeout: 7200, isSingleUse: singleUse) == expected)
    }

    @Test func expiryIsInSeconds() throws {
        let (_, sessions) = try connect(try TLSClientContext(.test), try TLSServerContext(try .test()))
        let expires = try #require(sessions.last?.expirationTime.seconds)
        // Between 2020 and 2100, so the value is in seconds.
        #expect((1_577_836_800..<4_102_444_800).contains(expires))
    }
}
