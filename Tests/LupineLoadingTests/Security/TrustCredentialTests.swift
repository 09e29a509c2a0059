// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineTestKit
import Testing

/// Credentials without a password, in storages, archives and comparisons.
@Suite struct TrustCredentialTests {
    @Test func aCredentialOfATrust() throws {
        let trust = try SecurityFixture.trust("good")
        let credential = URLCredential(trust: trust)
        #expect(credential.user == nil && credential.password == nil && !credential.hasPassword)
        #expect(credential.identity == nil && credential.certificates.isEmpty)
        #expect(credential == URLCredential(trust: trust))
        #expect(credential != URLCredential(trust: try SecurityFixture.trust("good")))
    }

    @Test func aCredentialOfAnIdentity() throws {
        func identity() throws -> SecIdentity {
            try SecIdentity(pemChain: PKI.text("client-rsa.pem"), pemKey: PKI.text("client-rsa.key"))
        }
        let issuer = try SecurityFixture.certificate("client-root")
        let credential = URLCredential(
            identity: try identity(), certificates: [issuer, "text"], persistence: .forSession)
        #expect(try credential.identity == identity())
        #expect(credential.certificates as? [SecCertificate] == [issuer])
        #expect(credential.user == nil && !credential.hasPassword && credential.persistence == .forSession)
        // U-11.1 and equality by content: credentials created from the same parts are equal.
        #expect(
            try credential
                == URLCredential(
                    identity: identity(), certificates: [issuer], persistence: .forSession))
        #expect(
            try credential
                != URLCredential(identity: identity(), certificates: nil, persistence: .forSession))
        #expect(
            try credential
                != URLCredential(identity: identity(), certificates: [issuer], persistence: .none))
    }

    @Test func onlyPasswordsAreKeptAndArchived() throws {
        let credential = URLCredential(trust: try SecurityFixture.trust("good"))
        let archive = try NSKeyedArchiver.archivedData(
            withRootObject: credential, requiringSecureCoding: true)
        #expect(
            (try? NSKeyedUnarchiver.unarchivedObject(ofClass: URLCredential.self, from: archive))
                .flatMap { $0 } == nil)
        let storage = URLCredentialStorage()
        let space = URLProtectionSpace(
            host: "good.test", port: 443, protocol: "https", realm: nil,
            authenticationMethod: NSURLAuthenticationMethodServerTrust)
        storage.set(credential, for: space)
        #expect(storage.allCredentials.isEmpty && space.serverTrust == nil)
    }
}
