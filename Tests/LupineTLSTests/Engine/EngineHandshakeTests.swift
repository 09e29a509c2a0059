// SPDX-License-Identifier: MIT

import Testing

@testable import LupineTLS

@Suite struct EngineHandshakeTests {
    @Test(arguments: TLSVersion.tested, WireManner.all)
    func handshakeThenBytesBothWays(_ version: TLSVersion, _ manner: WireManner) throws {
        let pair = try EnginePair(.test(version), manner: manner)
        pair.runHandshakes()
        #expect(pair.clientError == nil && pair.serverError == nil)
        try #require(pair.clientIsDone && pair.serverIsDone)
        #expect(pair.trustRequests.count == 1)
        #expect(
            try pair.transfer(Array("to the server".utf8), fromClient: true) == Array("to the server".utf8))
        #expect(
            try pair.transfer(Array("to the client".utf8), fromClient: false) == Array("to the client".utf8))
    }

    /// Checks every kind of key, and a chain that is longer than a record.
    @Test(arguments: TLSVersion.tested, ["many-names", "deep", "ecdsa", "ed25519", "p384", "rsa", "rsa-pss"])
    func everyKindOfCertificate(_ version: TLSVersion, _ name: String) throws {
        for manner in [WireManner.all[0], WireManner.all[3]] {
            let pair = try EnginePair(.test(version), try .test(name), manner: manner)
            pair.runHandshakes()
            try #require(pair.clientIsDone && pair.serverIsDone)
            let sent = try FixtureIdentity.certificates("\(name)-chain.pem").map(FixtureIdentity.der)
            #expect(pair.trustRequests.first?.certificates.map(FixtureIdentity.der) == sent)
        }
    }

    @Test(arguments: TLSVersion.tested)
    func aFailedSendIsReportedAfterTheReceivedAlerts(_ version: TLSVersion) throws {
        let pair = try EnginePair(.test(version))
        _ = try pair.client.handshake()
        pair.client.hasFailedToSend = true
        // No alert has arrived that could say why.
        #expect(throws: TLSError.wireFailed) { _ = try pair.client.handshake() }

        let alerted = try EnginePair(.test(version))
        _ = try alerted.client.handshake()
        alerted.client.hasFailedToSend = true
        alerted.toClient.put([21, 3, 3, 0, 2, 2, 80])
        #expect(throws: TLSError.alert(.internalError)) { _ = try alerted.client.handshake() }
    }

    @Test func nothingIsReadAfterClosing() throws {
        let pair = try EnginePair()
        pair.runHandshakes()
        _ = try pair.server.write([1].span)
        pair.client.close()
        pair.client.close()
        #expect(try pair.read(client: true) == .end)
        #expect(try pair.read(client: false) == .end)
    }
}
