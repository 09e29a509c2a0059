// SPDX-License-Identifier: MIT

import LupineTestKit
import Testing

@testable import LupineTLS

@Suite struct EngineTrustTests {
    @Test(arguments: TLSVersion.tested, WireManner.all)
    func theOwnerGetsChainStapleAndHost(_ version: TLSVersion, _ manner: WireManner) throws {
        var configuration = try TLSServerConfiguration.test("good")
        let staple = try PKI.bytes("ocsp/good.der")
        configuration.identities[0].stapledResponse = staple
        let pair = try EnginePair(.test(version), configuration, manner: manner)
        pair.runHandshakes()
        let trust = try #require(pair.trustRequests.first)
        #expect(pair.trustRequests.count == 1)
        #expect(trust.stapledResponse == staple)
        #expect(trust.host == "good.test")
        let sent = try FixtureIdentity.certificates("good-chain.pem").map(FixtureIdentity.der)
        #expect(trust.certificates.map(FixtureIdentity.der) == sent)
        #expect(pair.client.info.peerCertificates.map(FixtureIdentity.der) == sent)
        #expect(pair.clientIsDone && pair.serverIsDone)
    }

    @Test(arguments: TLSVersion.tested)
    func theOwnerGetsNoStapleWithoutOne(_ version: TLSVersion) throws {
        let pair = try EnginePair(.test(version))
        pair.runHandshakes()
        #expect(pair.trustRequests.first?.stapledResponse == nil)
    }

    /// Each trust failure, and the alert that the server receives.
    static let refusals: [(TrustFailure, TLSAlert)] = [
        (.noCertificate, .badCertificate),
        (.hostMismatch(host: "a", names: ["b"]), .badCertificate),
        (.expired(subject: "a", since: UnixTime(seconds: 0)), .certificateExpired),
        (.notYetValid(subject: "a", until: UnixTime(seconds: 0)), .certificateExpired),
        (.issuerMissing(subject: "a", issuer: "b"), .unknownCA),
        (.untrustedRoot(subject: "a"), .unknownCA),
        (.selfSigned(subject: "a"), .unknownCA),
        (.wrongUsage(subject: "a"), .unsupportedCertificate),
        (.revoked(subject: "a", at: nil, reason: nil), .certificateRevoked),
        (.keyNotPinned(expected: [], found: []), .badCertificate),
        (.refused("no"), .certificateUnknown),
    ]

    @Test(arguments: TLSVersion.tested, refusals.indices)
    func aRefusedPeerGetsOnlyAnAlert(_ version: TLSVersion, _ row: Int) throws {
        let (failure, alert) = Self.refusals[row]
        var client = TLSConfiguration.test(version)
        let identity = try FixtureIdentity.load("client-rsa")
        client.identity = identity
        var server = try TLSServerConfiguration.test()
        server.clientCertificates = .required(roots: try FixtureIdentity.certificates("client-root.pem"))
        let pair = try EnginePair(client, server)
        pair.verdict = .failure(failure)
        pair.runHandshakes()
        #expect(pair.clientError == .untrusted(failure))
        #expect(pair.serverError == .alert(alert))
        // After the bytes sent before the owner was asked, only the alert follows, unencrypted in either version.
        let sentAfter = Array(pair.toServer.log[pair.sentBeforeTrustRequest...])
        #expect(sentAfter == [21, 3, 3, 0, 2, 2, alert.rawValue])
        #expect(throws: TLSError.untrusted(failure)) { try pair.client.handshake() }
        #expect(throws: TLSError.untrusted(failure)) { try pair.client.write([1].span) }
    }

    @Test(arguments: TLSVersion.tested)
    func onlyTheClientHelloIsSentBeforeTheVerdict(_ version: TLSVersion) throws {
        let pair = try EnginePair(.test(version))
        pair.stepClient()
        let first = pair.toServer.log.count
        pair.runHandshakes()
        #expect(pair.sentBeforeTrustRequest == first)
    }

    @Test(arguments: TLSVersion.tested)
    func theEngineAsksUntilItIsAnswered(_ version: TLSVersion) throws {
        let pair = try EnginePair(.test(version))
        _ = try pair.client.handshake()
        pair.stepServer()
        for _ in 0..<3 {
            guard case .awaitsTrust(let trust) = try pair.client.handshake() else {
                Issue.record("not asked")
                return
            }
            #expect(trust.certificates.count == 2)
        }
        pair.client.answerTrust(.success(()))
        pair.runHandshakes()
        #expect(pair.clientIsDone && pair.trustRequests.isEmpty)
    }

    @Test func anEndBeforeTheVerdictIsReportedAfterIt() throws {
        let pair = try EnginePair(.test(.v1_2))
        _ = try pair.client.handshake()
        pair.stepServer()
        _ = try pair.client.handshake()
        pair.toClient.isClosed = true
        pair.client.answerTrust(.success(()))
        #expect(throws: TLSError.closedInHandshake) { _ = try pair.client.handshake() }
    }

    @Test(arguments: TLSVersion.tested)
    func aServerWithoutACertificateIsRefused(_ version: TLSVersion) throws {
        var client = TLSConfiguration.test(version)
        client.cipherList = "aNULL:@SECLEVEL=0"
        var server = try TLSServerConfiguration.test()
        server.cipherList = "aNULL:@SECLEVEL=0"
        let pair = try EnginePair(client, server)
        pair.runHandshakes()
        switch version {
        case .v1_3: #expect(pair.clientIsDone && pair.trustRequests.count == 1)
        default: #expect(pair.clientError == .untrusted(.noCertificate))
        }
    }
}
