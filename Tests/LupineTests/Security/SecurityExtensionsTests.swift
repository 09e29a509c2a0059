// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineTestKit
import Testing

@testable import Lupine

/// The `af` extensions of bundles, trusts, policies, certificates and statuses.
@Suite struct SecurityExtensionsTests {
    private typealias Fixture = TrustFixture

    private struct Produced: Error, Equatable {
        let status: OSStatus
        let result: SecTrustResultType
    }

    /// Runs `body` with a new folder, and removes it.
    private static func withFolder(_ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "lupine-\(UUID()).resources")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder)
    }

    @Test("[I-13.1] the DER files at the top of a bundle are found by extension, and others skipped")
    func bundle() throws {
        try Self.withFolder { folder in
            let files = [
                ("good.der", "good.der"), ("intermediate.CER", "intermediate.der"), ("root.crt", "root.der"),
                ("pem.crt", "good.pem"), ("key.der", "good.key"), ("other.txt", "good.der"),
            ]
            for (name, fixture) in files {
                try Data(PKI.bytes(fixture)).write(to: folder.appendingPathComponent(name))
            }
            let inner = folder.appendingPathComponent("inner")
            try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: true)
            try Data(PKI.bytes("good.der")).write(to: inner.appendingPathComponent("inner.der"))
            let bundle = try #require(Bundle(path: folder.path))
            let expected = Set(try ["good", "intermediate", "root"].map(Fixture.certificate))
            #expect(bundle.af.certificates.count == 3 && Set(bundle.af.certificates) == expected)
            #expect(bundle.af.publicKeys.count == 3)
            #expect(Set(bundle.af.publicKeys) == Set(expected.compactMap(\.af.publicKey)))
            let names = { (types: [String]) in
                bundle.af.paths(forResourcesOfTypes: types).map { URL(fileURLWithPath: $0).lastPathComponent }
                    .sorted()
            }
            #expect(names(["der", ".der", "der"]) == ["good.der", "key.der"])
            #expect(names(["crt", "CER"]) == ["intermediate.CER", "pem.crt", "root.crt"])
            #expect(names([]) == [] && names(["nothing"]) == [])
        }
    }

    @Test("certificates are read from PEM and DER files and folders; a file without one is an error")
    func files() throws {
        try Self.withFolder { folder in
            for (name, fixture) in [("a.der", "root.der"), ("b.pem", "good-chain.pem")] {
                try Data(PKI.bytes(fixture)).write(to: folder.appendingPathComponent(name))
            }
            let both = try ["root", "good", "intermediate"].map(Fixture.certificate)
            #expect(try SecCertificate.af.certificates(at: folder) == both)
            #expect(
                try SecCertificate.af.certificates(at: folder.appendingPathComponent("a.der")) == [both[0]])
            #expect(try SecCertificate.certificates(file: PKI.path("good-chain.pem")) == Array(both[1...]))
            try Data("nothing".utf8).write(to: folder.appendingPathComponent("c.txt"))
            #expect(throws: (any Error).self) { try SecCertificate.af.certificates(at: folder) }
            #expect(try SecCertificate.certificates(directory: folder.path) == both)
            #expect(throws: (any Error).self) {
                try SecCertificate.af.certificates(at: folder.appendingPathComponent("absent"))
            }
        }
    }

    @Test("public keys are read from PEM and DER files")
    func keyFiles() throws {
        // The output of `openssl pkey -pubout` for a certificate's key is parsed as that key.
        let pem = """
            -----BEGIN PUBLIC KEY-----
            MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=
            -----END PUBLIC KEY-----
            """
        let key = try #require(try SecKey.keys(pem: pem).first)
        #expect(key.description.contains("Ed25519"))
        #expect(throws: (any Error).self) { try SecKey.keys(pem: "nothing") }
        #expect(throws: (any Error).self) { try SecKey.keys(pem: pem.replacing("MCow", with: "MCox")) }
        try Self.withFolder { folder in
            let file = folder.appendingPathComponent("key.pem")
            try Data((pem + "\n" + pem).utf8).write(to: file)
            #expect(try SecKey.keys(file: file.path) == [key, key])
            let der = folder.appendingPathComponent("key.der")
            let body = "MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE="
            try #require(Data(base64Encoded: body)).write(to: der)
            #expect(try SecKey.keys(file: der.path) == [key])
            #expect(throws: (any Error).self) { try SecKey.keys(file: PKI.path("good.der")) }
        }
    }

    @Test("applying a policy replaces the policies of the trust")
    func apply() throws {
        let trust = try Fixture.trust("good")
        let policy = SecPolicy.af.hostname("good.test")
        #expect(try trust.af.apply(policy: policy) === trust)
        var policies: CFArray?
        #expect(SecTrustCopyPolicies(trust, &policies) == errSecSuccess)
        #expect(policies as? [SecPolicy] == [policy])
        #expect(SecPolicy.af.default == SecPolicyCreateSSL(true, nil))
        try trust.af.evaluate()
        #expect(throws: AFError.self) { try trust.af.evaluate(afterApplying: .af.hostname("other.test")) }
    }

    @Test("a status that is not a success becomes the matching reason")
    func statuses() throws {
        let trust = try Fixture.trust("good")
        let certificates = try Fixture.certificates("root")
        let attempts: [(String, () throws -> Void)] = [
            ("policyApplicationFailed", { _ = try trust.af.apply(.af.default) { _, _ in errSecParam } }),
            (
                "settingAnchorCertificatesFailed",
                {
                    try trust.af.setAnchorCertificates(
                        certificates, by: { _, _ in errSecParam }, only: { _, _ in errSecSuccess })
                }
            ),
            (
                "settingAnchorCertificatesFailed",
                {
                    try trust.af.setAnchorCertificates(
                        certificates, by: { _, _ in errSecSuccess }, only: { _, _ in errSecParam })
                }
            ),
            ("revocationPolicyCreationFailed", { _ = try SecPolicy.af.revocation(options: []) }),
        ]
        for (reason, attempt) in attempts {
            let error = #expect(throws: (any Error).self) { try attempt() }
            #expect(error.map(Fixture.name) == reason)
        }
    }

    @Test("[I-13.3] the default validation ignores the host, `performValidation` checks it")
    func hosts() throws {
        let trust = try Fixture.trust("good")
        try trust.af.performDefaultValidation(forHost: "other.test")
        try trust.af.performValidation(forHost: "good.test")
        let status = Fixture.status { try trust.af.performValidation(forHost: "other.test") }
        #expect(status == errSecHostNameMismatch)
    }

    @Test("[I-13.4] [I-11.1] `validate` checks status and result, and throws the producer's error")
    func validate() throws {
        let good = try Fixture.trust("good")
        try good.af.validate(policy: .af.default) { Produced(status: $0, result: $1) }
        try good.af.validate { Produced(status: $0, result: $1) }
        let rows: [(leaf: String, result: SecTrustResultType)] = [
            ("expired", .recoverableTrustFailure), ("untrusted", .recoverableTrustFailure),
            ("bad-signature", .fatalTrustFailure),
        ]
        for row in rows {
            let trust = try Fixture.trust(row.leaf)
            #expect(throws: Produced(status: errSecSuccess, result: row.result)) {
                try trust.af.validate(policy: .af.default) { Produced(status: $0, result: $1) }
            }
        }
        let trust = try Fixture.trust("expired")
        let reasons:
            [(String, (AFError.ServerTrustFailureReason.Output) -> AFError.ServerTrustFailureReason)] = [
                ("defaultEvaluationFailed", { .defaultEvaluationFailed(output: $0) }),
                ("hostValidationFailed", { .hostValidationFailed(output: $0) }),
                ("revocationCheckFailed", { .revocationCheckFailed(output: $0, options: .any) }),
            ]
        for (name, reason) in reasons {
            let error = #expect(throws: AFError.self) {
                try trust.af.validate(policy: .af.hostname("localhost")) { status, result in
                    AFError.serverTrustEvaluationFailed(
                        reason: reason(.init("localhost", trust, status, result)))
                }
            }
            #expect(error.map(Fixture.name) == name)
        }
    }

    @Test("a trust returns its chain as certificates, data and keys, and accepts anchors")
    func chain() throws {
        let trust = try Fixture.trust("good", roots: ["other-root"])
        let expected = try ["good", "intermediate"].map(Fixture.certificate)
        #expect(trust.af.certificates == expected)
        try trust.af.setAnchorCertificates([Fixture.certificate("root")])
        let whole = try expected + [Fixture.certificate("root")]
        #expect(trust.af.certificates == whole)
        #expect(trust.af.certificateData == whole.map { SecCertificateCopyData($0) })
        #expect(trust.af.publicKeys == whole.compactMap { SecCertificateCopyKey($0) })
        #expect(whole.af.data == trust.af.certificateData && whole.af.publicKeys == trust.af.publicKeys)
        #expect(([] as [SecCertificate]).af.data == [])
    }

    @Test("the statuses and results that are a success")
    func success() {
        #expect(errSecSuccess.af.isSuccess && !errSecParam.af.isSuccess)
        let rows: [(SecTrustResultType, Bool)] = [
            (.invalid, false), (.proceed, true), (.deny, false), (.unspecified, true),
            (.recoverableTrustFailure, false), (.fatalTrustFailure, false), (.otherError, false),
        ]
        for (result, isSuccess) in rows { #expect(result.af.isSuccess == isSuccess, "\(result)") }
    }

    @Test(
        "[V-10.3] certificates, trusts and bundles have extensions under `af`"
    )
    func extended() throws {
        let certificate = try #require(
            SecCertificateCreateWithData(nil, Data(PKI.bytes("good.der")) as CFData))
        #expect(certificate.af.type === certificate)
        #expect(Bundle.main.af.type === Bundle.main)
        var trust: SecTrust?
        _ = SecTrustCreateWithCertificates([certificate], SecPolicyCreateBasicX509(), &trust)
        let made = try #require(trust)
        #expect(made.af.type === made)
    }
}
