// SPDX-License-Identifier: MIT

import Testing

@testable import LupineTLS

@Suite struct EngineIdentityTests {
    private func server(required: Bool) throws -> TLSServerConfiguration {
        var server = try TLSServerConfiguration.test()
        let roots = try FixtureIdentity.certificates("client-root.pem")
        server.clientCertificates = required ? .required(roots: roots) : .requested(roots: roots)
        return server
    }

    @Test(arguments: TLSVersion.tested, ["client-rsa", "client-ecdsa"])
    func theConfiguredIdentityIsSent(_ version: TLSVersion, _ name: String) throws {
        var client = TLSConfiguration.test(version)
        client.identity = try FixtureIdentity.load(name)
        let pair = try EnginePair(client, try server(required: true))
        pair.runHandshakes()
        try #require(pair.serverIsDone && pair.clientIsDone)
        #expect(pair.identityRequests.isEmpty)
        let sent = try FixtureIdentity.certificates("\(name)-chain.pem").map(FixtureIdentity.der)
        #expect(pair.server.info.peerCertificates.map(FixtureIdentity.der) == sent)
    }

    @Test(arguments: TLSVersion.tested, WireManner.all)
    func theOwnerIsAskedForAnIdentity(_ version: TLSVersion, _ manner: WireManner) throws {
        let pair = try EnginePair(.test(version), try server(required: true), manner: manner)
        pair.client.asksForIdentity = true
        pair.identity = try FixtureIdentity.load("client-ecdsa")
        pair.runHandshakes()
        try #require(pair.serverIsDone && pair.clientIsDone)
        let request = try #require(pair.identityRequests.first)
        #expect(pair.identityRequests.count == 1 && request.acceptableIssuers.count == 1)
        #expect(request.acceptableIssuers.first?.first == 0x30)
        #expect(pair.server.info.peerCertificates.count == 2)
        #expect(try pair.transfer([1, 2, 3], fromClient: true) == [1, 2, 3])
    }

    @Test(arguments: TLSVersion.tested)
    func theOwnerIsNotAskedByDefault(_ version: TLSVersion) throws {
        let pair = try EnginePair(.test(version), try server(required: false))
        pair.runHandshakes()
        #expect(pair.identityRequests.isEmpty && pair.serverIsDone)
        #expect(pair.server.info.peerCertificates.isEmpty)
    }

    @Test(arguments: TLSVersion.tested)
    func noIdentityIsSentWithoutARequest(_ version: TLSVersion) throws {
        var client = TLSConfiguration.test(version)
        client.identity = try FixtureIdentity.load("client-rsa")
        let pair = try EnginePair(client)
        pair.runHandshakes()
        #expect(pair.serverIsDone && pair.server.info.peerCertificates.isEmpty)
    }

    @Test(arguments: TLSVersion.tested, [true, false])
    func aMissingIdentityIsReported(_ version: TLSVersion, _ asksOwner: Bool) throws {
        let pair = try EnginePair(.test(version), try server(required: true))
        pair.client.asksForIdentity = asksOwner
        pair.runHandshakes()
        #expect(pair.serverError == .clientCertificateRequired)
        #expect(pair.identityRequests.count == (asksOwner ? 1 : 0))
        #expect(clientError(of: pair) == .clientCertificateRequired)
    }

    @Test(arguments: TLSVersion.tested)
    func aRefusedIdentityIsReported(_ version: TLSVersion) throws {
        var client = TLSConfiguration.test(version)
        client.identity = try FixtureIdentity.load("client-untrusted")
        let pair = try EnginePair(client, try server(required: true))
        pair.runHandshakes()
        #expect(clientError(of: pair) == .clientCertificateRejected(.unknownCA))
        guard case .protocolViolation = pair.serverError else {
            Issue.record("\(String(describing: pair.serverError))")
            return
        }
    }

    /// Returns the client's error. A TLS 1.3 server verifies the client after the client's handshake has ended, so the client
    /// receives its alert with the first read.
    private func clientError(of pair: EnginePair) -> TLSError? {
        if let error = pair.clientError { return error }
        do throws(TLSError) {
            _ = try pair.read(client: true)
            return nil
        } catch { return error }
    }
}
