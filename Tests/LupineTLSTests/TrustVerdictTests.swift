// SPDX-License-Identifier: MIT

import LupineTestKit
import Testing

@testable import LupineTLS

/// Tests of every leaf of the fixtures under the evaluators that validate the whole chain.
@Suite struct TrustVerdictTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let leaf: String
        var host = "localhost"
        /// The verdict of the default evaluator.
        var verdict = "accepted"
        /// The verdict without a host name to match; nil for the same.
        var anyHost: String?
        /// The verdict under the basic policy; nil for the same as without a host name.
        var basic: String?

        var testDescription: String { "\(leaf) for \(host)" }
    }

    static let rows: [Row] = [
        Row(leaf: "good", host: "good.test"),
        Row(leaf: "good", host: "evil.test", verdict: "hostMismatch evil.test", anyHost: "accepted"),
        Row(leaf: "rsa"), Row(leaf: "ecdsa"), Row(leaf: "ed25519"), Row(leaf: "p384"), Row(leaf: "rsa-pss"),
        Row(leaf: "many-names", host: "n0999.many.test"),
        Row(leaf: "deep"), Row(leaf: "renewed"), Row(leaf: "renewed-other-key"),
        Row(leaf: "first", host: "first.test"), Row(leaf: "second", host: "second.test"),
        Row(leaf: "first", host: "second.test", verdict: "hostMismatch second.test", anyHost: "accepted"),
        Row(leaf: "idna", host: "xn--bcher-kva.test"),
        Row(leaf: "wildcard", host: "any.wild.test"),
        Row(
            leaf: "wildcard", host: "a.b.wild.test", verdict: "hostMismatch a.b.wild.test",
            anyHost: "accepted"),
        Row(leaf: "wildcard-wide", host: "any.test", verdict: "hostMismatch any.test", anyHost: "accepted"),
        Row(leaf: "ip-san", host: "127.0.0.1"), Row(leaf: "ip-san", host: "::1"),
        Row(leaf: "ip-san", host: "127.0.0.2", verdict: "hostMismatch 127.0.0.2", anyHost: "accepted"),
        Row(leaf: "wrong-host", verdict: "hostMismatch localhost", anyHost: "accepted"),
        Row(leaf: "no-san", verdict: "hostMismatch localhost", anyHost: "accepted"),
        Row(leaf: "uri-san", verdict: "hostMismatch localhost", anyHost: "accepted"),
        Row(leaf: "nul-name", host: "good.test", verdict: "hostMismatch good.test", anyHost: "accepted"),
        Row(leaf: "expired", verdict: "expired expired 1640995199"),
        Row(leaf: "not-yet-valid", verdict: "notYetValid not-yet-valid 4039372800"),
        Row(leaf: "expired-issuer", verdict: "expired intermediate-expired 1640995199"),
        Row(leaf: "expired-root", verdict: "issuerMissing expired-root of root-expired"),
        Row(leaf: "self-signed", verdict: "selfSigned self-signed"),
        Row(leaf: "self-signed-ca", verdict: "selfSigned self-signed-ca"),
        Row(leaf: "untrusted", verdict: "issuerMissing untrusted of other-root"),
        Row(leaf: "impostor", verdict: "issuerMissing intermediate of other-root"),
        Row(leaf: "bad-signature", verdict: "badSignature bad-signature"),
        Row(leaf: "weak-key", verdict: "weakKey weak-key 1024", basic: "accepted"),
        Row(leaf: "weak-issuer", verdict: "weakKey intermediate-weak 1024", basic: "accepted"),
        Row(leaf: "weak-curve", verdict: "weakKey weak-curve 192", basic: "accepted"),
        Row(leaf: "weak-curve-224", verdict: "weakKey weak-curve-224 224", basic: "accepted"),
        Row(leaf: "sha1", verdict: "weakSignature sha1 sha1WithRSAEncryption", basic: "accepted"),
        Row(leaf: "constrained-inside", host: "inside.allowed.test"),
        Row(
            leaf: "constrained-outside", host: "outside.test", verdict: "nameNotPermitted constrained-outside"
        ),
        Row(leaf: "wrong-usage", verdict: "wrongUsage wrong-usage", basic: "accepted"),
        Row(leaf: "no-ca", verdict: "notAnAuthority good"),
        Row(leaf: "path-length", verdict: "pathTooLong intermediate-pathlen"),
        Row(leaf: "cycle", verdict: "issuerMissing cycle-two of cycle-one"),
        Row(leaf: "critical", verdict: "unknownCriticalExtension critical"),
        Row(leaf: "must-staple", verdict: "stapleMissing must-staple", basic: "accepted"),
        Row(leaf: "good-ocsp"), Row(leaf: "revoked-ocsp"), Row(leaf: "good-crl"), Row(leaf: "revoked-crl"),
        Row(leaf: "good-both"), Row(leaf: "checked"), Row(leaf: "revoked-issuer"),
    ]

    @Test(arguments: rows)
    func everyLeafHasItsVerdict(_ row: Row) throws {
        let trust = try TrustFixture.trust(row.leaf, host: row.host)
        func under(_ evaluator: TrustEvaluator) -> String {
            verdict(evaluator.evaluate(trust, at: TrustFixture.now))
        }
        let anyHost = row.anyHost ?? row.verdict
        #expect(under(.default) == row.verdict)
        #expect(under(.system(checksHost: false)) == anyHost)
        #expect(verdict(trust.evaluate(.basic, at: TrustFixture.now)) == row.basic ?? anyHost)
        #expect(under(.disabled) == "accepted")
        #expect(under(.composite([.disabled, .default])) == row.verdict)
        // Pins of the leaf match, and do not change the other results of the evaluation.
        let leaf = try TrustFixture.certificate(row.leaf)
        #expect(under(.pinnedCertificates([leaf])) == row.verdict)
        #expect(under(.pinnedCertificates([leaf], checksHost: false)) == anyHost)
        #expect(under(.pinnedCertificates([leaf], validatesChain: false)) == row.verdict)
        #expect(under(.pinnedCertificates([leaf], validatesChain: false, checksHost: false)) == "accepted")
        #expect(under(.pinnedKeys([try TrustFixture.pin(row.leaf)])) == row.verdict)
        #expect(
            under(.pinnedKeys([try TrustFixture.pin(row.leaf)], validatesChain: false, checksHost: false))
                == "accepted")
        // A pin that does not match is reported only if the chain is valid.
        let other = try TrustFixture.certificate("other-root")
        #expect(
            under(.pinnedCertificates([other]))
                == (row.verdict == "accepted" ? "certificateNotPinned" : row.verdict))
        let key = try TrustFixture.pin("other-root")
        #expect(under(.pinnedKeys([key])) == (row.verdict == "accepted" ? "keyNotPinned" : row.verdict))
        // Without sources to ask, the revocation evaluator accepts every valid chain.
        #expect(under(.revocation()) == row.verdict)
    }

    @Test func noCertificateIsRefused() {
        let trust = PeerTrust(
            certificates: [], stapledResponse: nil, host: "localhost", store: TrustStore(anchors: []))
        #expect(verdict(TrustEvaluator.default.evaluate(trust, at: TrustFixture.now)) == "noCertificate")
        #expect(trust.chain().isEmpty)
    }

    /// Checks the same chains at other times, at the limits of their validity.
    @Test(arguments: [
        ("good", Int64(1_704_067_199), "notYetValid good 1704067200"),
        ("good", 1_704_067_200, "accepted"),
        ("good", 4_102_444_799, "accepted"),
        ("good", 4_102_444_800, "expired good 4102444799"),
        ("expired", 1_640_995_199, "accepted"),
        ("expired", 1_640_995_200, "expired expired 1640995199"),
        ("not-yet-valid", 4_039_372_799, "notYetValid not-yet-valid 4039372800"),
        ("not-yet-valid", 4_039_372_800, "accepted"),
    ])
    func timeIsAnArgument(_ leaf: String, _ seconds: Int64, _ expected: String) throws {
        var trust = try TrustFixture.trust(leaf)
        // The anchor's validity covers every row, and is not checked for an anchor.
        trust.store = TrustStore(anchors: [try TrustFixture.certificate("intermediate")])
        let result = TrustEvaluator.default.evaluate(trust, at: UnixTime(seconds: seconds))
        #expect(verdict(result) == expected)
    }

    @Test func theMostSeriousOfSeveralProblemsIsReported() throws {
        // Expired, for another name, and not anchored.
        let unanchored = try TrustFixture.trust("expired", host: "evil.test", roots: ["other-root"])
        #expect(
            verdict(unanchored.evaluate(.server(host: "evil.test"), at: TrustFixture.now))
                == "issuerMissing intermediate of root")
        // Expired and for another name.
        let anchored = try TrustFixture.trust("expired", host: "evil.test")
        #expect(
            verdict(anchored.evaluate(.server(host: "evil.test"), at: TrustFixture.now))
                == "expired expired 1640995199")
    }
}
