// SPDX-License-Identifier: MIT

import Synchronization
import Testing

@testable import LupineTLS

@Suite(.serialized) struct EngineLifetimeTests {
    /// Checks that all objects of 500 connections are freed: full and resumed, accepted and refused, finished and dropped.
    @Test func allObjectsOfManyHandshakesAreFreed() throws {
        weak var lastEngine: TLSEngine?
        weak var lastWire: MemoryWire?
        do {
            var cache = TLSSessionCache<TLSVersion>()
            let server = try TLSServerContext(try .test())
            var identified = TLSConfiguration.test
            identified.identity = try FixtureIdentity.load("client-ecdsa")
            var requiringIdentity = try TLSServerConfiguration.test()
            requiringIdentity.clientCertificates = .required(
                roots: try FixtureIdentity.certificates("client-root.pem"))
            let requiringServer = try TLSServerContext(requiringIdentity)
            let identifiedClient = try TLSClientContext(identified)
            let clients = try TLSVersion.tested.map { try TLSClientContext(.test($0)) }
            for client in clients + [identifiedClient] { ObjectCount.mark(client) }
            for round in 0..<500 {
                let version = TLSVersion.tested[round % 2]
                let isIdentified = round % 7 == 0
                let now = UnixTime(seconds: 0)
                let pair = try EnginePair(
                    client: isIdentified ? identifiedClient : clients[round % 2],
                    server: isIdentified ? requiringServer : server,
                    resuming: round % 3 == 0 || isIdentified ? nil : cache.take(for: version, now: now))
                ObjectCount.mark(pair.client)
                ObjectCount.mark(pair.server)
                if round % 5 == 4 { pair.verdict = .failure(.noPins) }
                lastEngine = pair.client
                lastWire = pair.clientWire
                if round % 11 == 0 {
                    pair.stepClient()
                    pair.stepServer()
                } else {
                    pair.runHandshakes()
                }
                for trust in pair.trustRequests { trust.certificates.forEach(ObjectCount.mark) }
                guard pair.clientIsDone && pair.serverIsDone else { continue }
                #expect(try pair.transfer([1, 2], fromClient: false) == [1, 2])
                pair.client.info.peerCertificates.forEach(ObjectCount.mark)
                for session in pair.client.takeSessions() {
                    ObjectCount.mark(session)
                    if !isIdentified { cache.put(session, for: version) }
                }
                if round % 2 == 0 { pair.client.close() }
            }
            #expect(ObjectCount.marked.load(ordering: .relaxed) > 1000)
        }
        #expect(lastEngine == nil && lastWire == nil)
        #expect(ObjectCount.alive.load(ordering: .relaxed) == 0)
    }

    @Test func thePeersChainOutlivesTheConnection() throws {
        var trust: PeerTrust?
        do {
            let pair = try EnginePair()
            pair.runHandshakes()
            trust = pair.trustRequests.first
        }
        let sent = try FixtureIdentity.certificates("good-chain.pem").map(FixtureIdentity.der)
        #expect(trust?.certificates.map(FixtureIdentity.der) == sent)
    }
}
