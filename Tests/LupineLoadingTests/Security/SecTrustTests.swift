// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineTLS
import LupineTestKit
import LupineTransport
import Testing

@testable import LupineLoading

/// Tests of trusts, one for each rule.
@Suite struct SecTrustTests {
    private typealias Fixture = SecurityFixture

    /// I-12.1: nothing is evaluated unless requested, and each change discards the result.
    @Test("[I-12.1] nothing is evaluated before the call, and every change discards the result")
    func changesEndTheResult() throws {
        let trust = try Fixture.trust("good")
        #expect(Fixture.result(trust) == .invalid)
        let anchors = try [Fixture.certificate("root")]
        let changes: [(String, () -> OSStatus)] = [
            ("policies", { SecTrustSetPolicies(trust, SecPolicyCreateSSL(true, nil)) }),
            ("anchors", { SecTrustSetAnchorCertificates(trust, anchors) }),
            ("anchors alone", { SecTrustSetAnchorCertificatesOnly(trust, true) }),
            ("the date", { SecTrustSetVerifyDate(trust, Fixture.now) }),
            ("fetching", { SecTrustSetNetworkFetchAllowed(trust, false) }),
            ("responses", { SecTrustSetOCSPResponse(trust, nil) }),
        ]
        for (summary, change) in changes {
            // An evaluation can be repeated.
            for _ in 0..<2 {
                #expect(Fixture.code(trust) == errSecSuccess)
                #expect(Fixture.result(trust) == .proceed)
            }
            #expect(change() == errSecSuccess)
            #expect(Fixture.result(trust) == .invalid, "\(summary)")
        }
    }

    @Test func parametersOfTheWrongKindAreRefused() throws {
        let trust = try Fixture.trust("good")
        let leaf = try Fixture.certificate("good")
        var made: SecTrust?
        for wrong in ["text", [SecCertificate](), [1, 2]] as [Any] {
            #expect(SecTrustCreateWithCertificates(wrong, nil, &made) == errSecParam && made == nil)
            #expect(SecTrustCreateWithCertificates(leaf, wrong, &made) == errSecParam && made == nil)
            #expect(SecTrustSetPolicies(trust, wrong) == errSecParam)
        }
        #expect(SecTrustSetAnchorCertificates(trust, ["text"]) == errSecParam)
        #expect(SecTrustSetOCSPResponse(trust, "text") == errSecParam)
        #expect(Fixture.code(trust) == errSecSuccess, "a refused change changes nothing")
        #expect(SecTrustCreateWithCertificates(leaf, nil, &made) == errSecSuccess && made != nil)
    }

    /// I-12.2 and I-12.10: a trust without anchors of its own uses those of the system, and reports that.
    @Test("[I-12.2, I-12.10] a trust without anchors has those of the system, and reports that")
    func theSystemsRootsCount() throws {
        let root = try #require(TrustStore.system.certificates.first)
        let trust = SecTrust(
            certificates: [SecCertificate(root)], policies: [SecPolicyCreateBasicX509()])
        #expect(Fixture.code(trust) == errSecSuccess)
        #expect(Fixture.result(trust) == .unspecified)
        #expect(SecTrustSetAnchorCertificates(trust, [SecCertificate(root)]) == errSecSuccess)
        #expect(Fixture.code(trust) == errSecSuccess)
        #expect(Fixture.result(trust) == .proceed)
        #expect(Fixture.code(try Fixture.trust("good", roots: nil)) == errSecCreateChainFailed)
    }

    /// I-12.3.
    @Test("[I-12.3] anchors replace the system's by default")
    func anchorsReplaceTheSystemsUnlessToldOtherwise() throws {
        let system = SecCertificate(try #require(TrustStore.system.certificates.first))
        let own = try Fixture.certificate("root")
        let ofSystem = SecTrust(certificates: [system], policies: [SecPolicyCreateBasicX509()])
        let addedAnchor = SecTrust(
            certificates: try Fixture.certificates("good-chain"), policies: [SecPolicyCreateBasicX509()])
        func set(_ change: (SecTrust) -> OSStatus) -> [Bool] {
            [ofSystem, addedAnchor].map { trust in
                #expect(change(trust) == errSecSuccess)
                return Fixture.code(trust) == errSecSuccess
            }
        }
        #expect(set { _ in errSecSuccess } == [true, false])
        #expect(set { SecTrustSetAnchorCertificates($0, [own]) } == [false, true])
        #expect(set { SecTrustSetAnchorCertificatesOnly($0, false) } == [true, true])
        #expect(set { SecTrustSetAnchorCertificates($0, [own]) } == [false, true])
        #expect(set { SecTrustSetAnchorCertificates($0, nil) } == [true, false])
        #expect(set { SecTrustSetAnchorCertificates($0, []) } == [false, false])
    }

    /// I-12.4.
    @Test(
        "[I-12.4] any certificate may be an anchor, also the leaf",
        arguments: [("good", "good"), ("good", "intermediate"), ("self-signed", "self-signed")])
    func anyCertificateMayBeAnAnchor(_ leaf: String, _ anchor: String) throws {
        let trust = try Fixture.trust(leaf, SecPolicyCreateSSL(true, "localhost"), roots: [anchor])
        #expect(Fixture.code(trust) == errSecSuccess)
        let chain = SecTrustCopyCertificateChain(trust) as? [SecCertificate]
        #expect(try chain?.last == Fixture.certificate(anchor))
    }

    /// I-12.5.
    @Test("[I-12.5] the chain is the built path, without an evaluation")
    func theChainIsThePathThatWasBuilt() throws {
        let sent = try Fixture.certificates("good-chain") + Fixture.certificates("ecdsa-chain")
        let trust = SecTrust(certificates: sent, policies: [SecPolicyCreateBasicX509()])
        #expect(Fixture.chain(trust) == ["good", "intermediate"], "as far as it goes")
        #expect(SecTrustSetAnchorCertificates(trust, [try Fixture.certificate("root")]) == errSecSuccess)
        #expect(Fixture.chain(trust) == ["good", "intermediate", "root"])
        #expect(Fixture.result(trust) == .invalid, "building is no evaluation")
        #expect(SecTrustGetCertificateCount(trust) == 3)
        #expect(SecTrustGetCertificateAtIndex(trust, 0) == sent[0])
        #expect(SecTrustGetCertificateAtIndex(trust, 3) == nil)
        #expect(SecTrustGetCertificateAtIndex(trust, -1) == nil)
        #expect(Fixture.chain(try Fixture.trust("expired")) == ["expired", "intermediate", "root"])
        #expect(Fixture.chain(try Fixture.trust("bad-signature")) == ["bad-signature"])
        #expect(SecTrustCopyKey(trust) == SecCertificateCopyKey(sent[0]))
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let leaf: String
        var host: String? = "localhost"
        var roots = ["root"]
        let code: OSStatus
        var result = SecTrustResultType.recoverableTrustFailure
        /// The status under the basic policy.
        var basic: OSStatus?

        var testDescription: String { "\(leaf) for \(host ?? "any host")" }
    }

    static let rows: [Row] = [
        Row(leaf: "good", host: "good.test", code: errSecSuccess, result: .proceed),
        Row(leaf: "good", host: "GOOD.test.", code: errSecSuccess, result: .proceed),
        Row(leaf: "wildcard", host: "any.wild.test", code: errSecSuccess, result: .proceed),
        Row(leaf: "ip-san", host: "127.0.0.1", code: errSecSuccess, result: .proceed),
        Row(leaf: "ip-san", host: "[::1]", code: errSecSuccess, result: .proceed),
        Row(leaf: "wrong-host", host: nil, code: errSecSuccess, result: .proceed),
        Row(leaf: "wrong-host", code: errSecHostNameMismatch, basic: errSecSuccess),
        Row(leaf: "no-san", code: errSecHostNameMismatch, basic: errSecSuccess),
        Row(leaf: "uri-san", code: errSecHostNameMismatch, basic: errSecSuccess),
        Row(leaf: "wildcard", host: "a.b.wild.test", code: errSecHostNameMismatch, basic: errSecSuccess),
        Row(leaf: "wildcard-wide", host: "any.test", code: errSecHostNameMismatch, basic: errSecSuccess),
        Row(leaf: "expired", code: errSecCertificateExpired),
        Row(leaf: "expired-issuer", code: errSecCertificateExpired),
        Row(leaf: "not-yet-valid", code: errSecCertificateNotValidYet),
        Row(leaf: "untrusted", code: errSecCreateChainFailed),
        Row(leaf: "self-signed", code: errSecNotTrusted),
        Row(leaf: "bad-signature", code: errSecInvalidRoot, result: .fatalTrustFailure),
        Row(leaf: "constrained-outside", code: errSecInvalidRoot, result: .fatalTrustFailure),
        Row(leaf: "critical", code: errSecInvalidRoot, result: .fatalTrustFailure),
        Row(leaf: "path-length", code: errSecNoBasicConstraintsCA, result: .fatalTrustFailure),
        Row(leaf: "no-ca", code: errSecNoBasicConstraintsCA, result: .fatalTrustFailure),
        Row(leaf: "wrong-usage", code: errSecInvalidExtendedKeyUsage, basic: errSecSuccess),
        Row(leaf: "weak-key", code: errSecInvalidRoot, result: .fatalTrustFailure, basic: errSecSuccess),
        Row(
            leaf: "weak-curve-224", code: errSecInvalidRoot, result: .fatalTrustFailure, basic: errSecSuccess),
        Row(leaf: "sha1", code: errSecInvalidRoot, result: .fatalTrustFailure, basic: errSecSuccess),
    ]

    /// I-12.6, I-12.7 and I-12.8: the requirements of the basic policy and the one for servers; I-12.9 and I-12.10: the codes.
    @Test("[I-12.6, I-12.7, I-12.8, I-12.9, I-12.10] codes and results", arguments: rows)
    func codesAndResults(_ row: Row) throws {
        let trust = try Fixture.trust(row.leaf, SecPolicyCreateSSL(true, row.host), roots: row.roots)
        let error = Fixture.error(trust)
        #expect(OSStatus(error?.code ?? 0) == row.code)
        #expect(Fixture.result(trust) == row.result)
        if let error {
            #expect(error.domain == NSOSStatusErrorDomain)
            #expect(error.localizedDescription.contains("CN="), "\(error.localizedDescription)")
            let underlying = try #require(error.userInfo[NSUnderlyingErrorKey] as? NSError)
            #expect(underlying.code > 0 && !underlying.localizedDescription.isEmpty)
        }
        #expect(SecTrustSetPolicies(trust, SecPolicyCreateBasicX509()) == errSecSuccess)
        #expect(Fixture.code(trust) == row.basic ?? (row.code))
    }

    /// I-12.9: the most serious of several problems is reported, with OpenSSL's number for it.
    @Test("[I-12.9] of several problems the most serious is reported")
    func theMostSeriousProblemIsTold() throws {
        let expired = try Fixture.trust("expired", SecPolicyCreateSSL(true, "evil.test"))
        let error = try #require(Fixture.error(expired))
        #expect(error.code == Int(errSecCertificateExpired))
        #expect((error.userInfo[NSUnderlyingErrorKey] as? NSError)?.code == 10)
        let unknown = try Fixture.trust(
            "expired", SecPolicyCreateSSL(true, "evil.test"), roots: ["other-root"])
        #expect(Fixture.code(unknown) == errSecCreateChainFailed)
    }

    /// I-12.11.
    @Test("[I-12.11] all policies have to pass")
    func allPoliciesHaveToPass() throws {
        let fits = SecPolicyCreateSSL(true, "good.test")
        let fails = SecPolicyCreateSSL(true, "evil.test")
        let trust = try Fixture.trust("good", [SecPolicyCreateBasicX509(), fits])
        #expect(Fixture.code(trust) == errSecSuccess)
        #expect(SecTrustSetPolicies(trust, [fits, fails]) == errSecSuccess)
        #expect(Fixture.code(trust) == errSecHostNameMismatch)
        #expect(SecTrustSetPolicies(trust, fits) == errSecSuccess)
        #expect(Fixture.code(trust) == errSecSuccess)
        var policies: CFArray?
        #expect(SecTrustCopyPolicies(trust, &policies) == errSecSuccess)
        #expect(policies as? [SecPolicy] == [fits])
    }

    /// I-12.13.
    @Test("[I-12.13] revocation policies accept valid flags only")
    func revocationPoliciesHaveMeaningfulFlagsOnly() {
        #expect(SecPolicyCreateRevocation(0) == nil)
        #expect(SecPolicyCreateRevocation(1 << 5) == nil)
        #expect(SecPolicyCreateRevocation(.max) == nil)
        for flags in UInt(1)...31 { #expect(SecPolicyCreateRevocation(flags) != nil, "\(flags)") }
    }

    @Test func aClientCertificateIsEvaluatedForClients() throws {
        let trust = try Fixture.trust("client-rsa", SecPolicyCreateSSL(false, nil), roots: ["client-root"])
        #expect(Fixture.code(trust) == errSecSuccess)
        #expect(SecTrustSetPolicies(trust, SecPolicyCreateSSL(true, nil)) == errSecSuccess)
        #expect(Fixture.code(trust) == errSecInvalidExtendedKeyUsage)
    }

    @Test func theDeprecatedEvaluationReturnsTheResult() throws {
        let evaluation: any OlderEvaluation = ApplesOlderEvaluation()
        #expect(evaluation.result(of: try Fixture.trust("expired")) == .recoverableTrustFailure)
        #expect(evaluation.result(of: try Fixture.trust("good")) == .proceed)
    }
}

/// A requirement that is not deprecated, through which tests can call the deprecated function without a warning.
private protocol OlderEvaluation {
    func result(of trust: SecTrust) -> SecTrustResultType
}

private struct ApplesOlderEvaluation: OlderEvaluation {
    @available(*, deprecated)
    func result(of trust: SecTrust) -> SecTrustResultType {
        var result = SecTrustResultType.invalid
        #expect(SecTrustEvaluate(trust, &result) == errSecSuccess)
        return result
    }
}
