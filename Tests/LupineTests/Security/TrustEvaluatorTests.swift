// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineTestKit
import Testing

@testable import Lupine

/// The evaluators, called with a trust that a program has created.
@Suite struct TrustEvaluatorTests {
    private typealias Fixture = TrustFixture

    private struct Refused: Error {}

    /// An evaluator that throws a given error, if any, and records its calls.
    private final class RecordingEvaluator: ServerTrustEvaluating {
        let calls: Protected<[String]>
        let name: String
        let error: (any Error)?

        init(_ name: String, _ calls: Protected<[String]>, _ error: (any Error)? = nil) {
            (self.name, self.calls, self.error) = (name, calls, error)
        }

        func evaluate(_ trust: SecTrust, forHost host: String) throws {
            calls.write { $0.append(name) }
            if let error { throw error }
        }
    }

    @Test("[I-10.1] evaluators have no state, and the trust keeps the policies that the last one set")
    func stateless() throws {
        let evaluator = PinnedCertificatesTrustEvaluator(
            certificates: [try Fixture.certificate("self-signed")], acceptSelfSignedCertificates: true)
        for _ in 0..<2 {
            #expect(Fixture.verdict(evaluator, try Fixture.trust("self-signed"), "localhost") == "trusted")
            #expect(
                Fixture.verdict(evaluator, try Fixture.trust("good"), "good.test") == "trustEvaluationFailed")
        }
        let trust = try Fixture.trust("good")
        try CompositeTrustEvaluator(evaluators: [
            DefaultTrustEvaluator(), DisabledTrustEvaluator(),
            .revocationChecking(options: .networkAccessDisabled),
        ]).evaluate(trust, forHost: "good.test")
        var policies: CFArray?
        #expect(SecTrustCopyPolicies(trust, &policies) == errSecSuccess)
        let revocation = SecPolicyCreateRevocation(kSecRevocationNetworkAccessDisabled)
        #expect(policies as? [SecPolicy] == [try #require(revocation)])
    }

    @Test("[I-10.2] [I-11.1] an invalid chain fails with the same reason in each validation")
    func sameReason() throws {
        for leaf in ["expired", "not-yet-valid", "untrusted", "self-signed"] {
            for validateHost in [true, false] {
                let rows: [any ServerTrustEvaluating] = [
                    DefaultTrustEvaluator(validateHost: validateHost),
                    RevocationTrustEvaluator(validateHost: validateHost, options: .networkAccessDisabled),
                    PinnedCertificatesTrustEvaluator(
                        certificates: [try Fixture.certificate(leaf)], validateHost: validateHost),
                    PublicKeysTrustEvaluator(keys: [try Fixture.key(leaf)], validateHost: validateHost),
                ]
                for evaluator in rows {
                    let verdict = Fixture.verdict(evaluator, try Fixture.trust(leaf), "localhost")
                    #expect(verdict == "trustEvaluationFailed", "\(leaf) \(type(of: evaluator))")
                }
            }
        }
    }

    @Test("[I-10.3] without host validation any name is accepted, but the chain must be valid")
    func anyName() throws {
        let lenient = DefaultTrustEvaluator(validateHost: false)
        for leaf in ["good", "wrong-host", "no-san", "uri-san", "nul-name", "wildcard-wide"] {
            #expect(
                Fixture.verdict(lenient, try Fixture.trust(leaf), "elsewhere.test") == "trusted", "\(leaf)")
            let strict = Fixture.verdict(DefaultTrustEvaluator(), try Fixture.trust(leaf), "elsewhere.test")
            #expect(strict == "trustEvaluationFailed", "\(leaf)")
        }
        let alone = try Fixture.trust("good", presented: ["good"])
        #expect(Fixture.verdict(lenient, alone, "good.test") == "trustEvaluationFailed")
    }

    @Test("[I-10.4] pinned certificates can be the only anchors; any certificate of the chain can be pinned")
    func anchors() throws {
        for pinned in ["good", "intermediate", "root"] {
            let certificates = [try Fixture.certificate(pinned)]
            for accepts in [false, true] {
                let evaluator: PinnedCertificatesTrustEvaluator = .pinnedCertificates(
                    certificates: certificates, acceptSelfSignedCertificates: accepts)
                #expect(
                    Fixture.verdict(evaluator, try Fixture.trust("good"), "good.test") == "trusted",
                    "\(pinned)")
            }
        }
        let foreign = PinnedCertificatesTrustEvaluator(
            certificates: [try Fixture.certificate("other-root")], acceptSelfSignedCertificates: true)
        #expect(Fixture.verdict(foreign, try Fixture.trust("good"), "good.test") == "trustEvaluationFailed")
        let plain = PinnedCertificatesTrustEvaluator(certificates: [try Fixture.certificate("self-signed")])
        #expect(
            Fixture.verdict(plain, try Fixture.trust("self-signed"), "localhost") == "trustEvaluationFailed")
    }

    @Test("[I-10.5] certificates are compared by their bytes, keys by their values")
    func renewed() throws {
        let certificate = PinnedCertificatesTrustEvaluator(certificates: [try Fixture.certificate("good")])
        let key = PublicKeysTrustEvaluator(keys: [try Fixture.key("good")])
        let rows: [(leaf: String, certificate: String, key: String)] = [
            ("good", "trusted", "trusted"), ("renewed", "certificatePinningFailed", "trusted"),
            ("renewed-other-key", "certificatePinningFailed", "publicKeyPinningFailed"),
        ]
        for row in rows {
            #expect(Fixture.verdict(certificate, try Fixture.trust(row.leaf), "good.test") == row.certificate)
            #expect(Fixture.verdict(key, try Fixture.trust(row.leaf), "good.test") == row.key)
        }
        let several = PinnedCertificatesTrustEvaluator(
            certificates: try ["ecdsa", "good"].map(Fixture.certificate))
        #expect(Fixture.verdict(several, try Fixture.trust("good"), "good.test") == "trusted")
    }

    @Test("[I-10.6] any key of the chain can be pinned")
    func keys() throws {
        for pinned in ["good", "intermediate", "root"] {
            let evaluator: PublicKeysTrustEvaluator = .publicKeys(keys: [try Fixture.key(pinned)])
            #expect(
                Fixture.verdict(evaluator, try Fixture.trust("good"), "good.test") == "trusted", "\(pinned)")
        }
        let other = PublicKeysTrustEvaluator(keys: [try Fixture.key("other-root")])
        #expect(Fixture.verdict(other, try Fixture.trust("good"), "good.test") == "publicKeyPinningFailed")
    }

    @Test(
        "[I-10.7] pins are compared with the chain that was built, not with the certificates that were sent")
    func linkedChain() throws {
        func verdicts(_ pinned: String, _ trust: () throws -> SecTrust) throws -> [String] {
            let certificates = PinnedCertificatesTrustEvaluator(
                certificates: [try Fixture.certificate(pinned)], performDefaultValidation: false,
                validateHost: false)
            let keys = PublicKeysTrustEvaluator(
                keys: [try Fixture.key(pinned)], performDefaultValidation: false, validateHost: false)
            return [
                Fixture.verdict(certificates, try trust(), "good.test"),
                Fixture.verdict(keys, try trust(), "good.test"),
            ]
        }
        let passes = ["trusted", "trusted"]
        let fails = ["certificatePinningFailed", "publicKeyPinningFailed"]
        let rows: [(presented: [String], pinned: String, expected: [String])] = [
            (["good", "intermediate"], "good", passes), (["good", "intermediate"], "root", passes),
            (["good"], "good", passes), (["good"], "root", fails),
            (["good", "intermediate-ecdsa"], "good", passes),
            (["good", "intermediate-ecdsa"], "root", fails),
            (["good", "intermediate-ecdsa"], "intermediate-ecdsa", fails),
            (["good", "intermediate", "other-root"], "other-root", fails),
            (["expired", "intermediate"], "expired", passes),
            (["expired", "intermediate"], "intermediate", passes),
            (["expired", "intermediate"], "root", passes),
        ]
        for row in rows {
            let found = try verdicts(row.pinned) { try Fixture.trust("good", presented: row.presented) }
            #expect(found == row.expected, "\(row.presented) \(row.pinned)")
        }
    }

    @Test("[I-10.8] [I-10.9] host validation includes the chain, and pins are compared after it")
    func validations() throws {
        let certificates = [try Fixture.certificate("expired")]
        let rows: [(byDefault: Bool, host: Bool, verdict: String)] = [
            (true, true, "trustEvaluationFailed"), (false, true, "trustEvaluationFailed"),
            (true, false, "trustEvaluationFailed"), (false, false, "trusted"),
        ]
        for row in rows {
            let evaluator = PinnedCertificatesTrustEvaluator(
                certificates: certificates, performDefaultValidation: row.byDefault, validateHost: row.host)
            #expect(Fixture.verdict(evaluator, try Fixture.trust("expired"), "localhost") == row.verdict)
            let other = PinnedCertificatesTrustEvaluator(
                certificates: [try Fixture.certificate("good")], performDefaultValidation: row.byDefault,
                validateHost: row.host)
            let verdict = Fixture.verdict(other, try Fixture.trust("expired"), "localhost")
            #expect(verdict == (row.verdict == "trusted" ? "certificatePinningFailed" : row.verdict))
        }
    }

    @Test("an evaluator without pins throws before any validation")
    func nothingPinned() throws {
        let trust = try Fixture.trust("expired")
        #expect(
            Fixture.verdict(PinnedCertificatesTrustEvaluator(certificates: []), trust, "x")
                == "noCertificatesFound")
        #expect(Fixture.verdict(PublicKeysTrustEvaluator(keys: []), trust, "x") == "noPublicKeysFound")
        #expect(Fixture.verdict(try PublicKeyPinsTrustEvaluator(pins: []), trust, "x") == "noPublicKeysFound")
    }

    @Test("[I-13.2] an evaluator of an empty main bundle throws when it evaluates")
    func mainBundle() throws {
        let trust = try Fixture.trust("good")
        #expect(Bundle.main.af.certificates.isEmpty)
        #expect(Fixture.verdict(.pinnedCertificates, trust, "good.test") == "noCertificatesFound")
        #expect(Fixture.verdict(.publicKeys, trust, "good.test") == "noPublicKeysFound")
    }

    @Test("a composite calls its evaluators in order until one throws; an empty one trusts")
    func composite() throws {
        let calls = Protected<[String]>([])
        let trust = try Fixture.trust("good")
        let evaluator: CompositeTrustEvaluator = .composite(evaluators: [
            RecordingEvaluator("a", calls), RecordingEvaluator("b", calls, Refused()),
            RecordingEvaluator("c", calls),
        ])
        #expect(throws: Refused.self) { try evaluator.evaluate(trust, forHost: "x") }
        #expect(calls.read { $0 } == ["a", "b"])
        try CompositeTrustEvaluator(evaluators: []).evaluate(trust, forHost: "x")
        let none: [any ServerTrustEvaluating] = []
        try none.evaluate(trust, forHost: "x")
    }

    @Test("the disabled evaluator trusts every server")
    func disabled() throws {
        for leaf in ["expired", "untrusted", "bad-signature"] {
            #expect(Fixture.verdict(DisabledTrustEvaluator(), try Fixture.trust(leaf), "x") == "trusted")
        }
    }

    // MARK: pins by their digests

    @Test("pins are those that openssl computes, in both spellings")
    func pins() throws {
        for name in ["good", "intermediate", "root", "ecdsa", "rsa"] {
            #expect(try Fixture.key(name).pin == PKIEntry.named(name).pin)
        }
        let pin = try PKIEntry.named("root").pin
        let curl = "sha256//" + pin.dropFirst("sha256/".count)
        for text in [pin, curl] {
            let evaluator: PublicKeyPinsTrustEvaluator = try .publicKeyPins([text])
            #expect(evaluator.pins == [pin])
            #expect(Fixture.verdict(evaluator, try Fixture.trust("good"), "good.test") == "trusted")
        }
        #expect(
            Fixture.verdict(try PublicKeyPinsTrustEvaluator(pins: [pin]), try Fixture.trust("good"), "x.test")
                == "trustEvaluationFailed")
        for text in [
            "", "sha256/", "sha1/AAAA", String(pin.dropLast(4)), pin + "=",
            "sha256/" + String(repeating: "*", count: 44),
        ] {
            #expect(throws: (any Error).self, "\(text)") {
                try PublicKeyPinsTrustEvaluator(pins: [pin, text])
            }
        }
    }

    @Test("a failed pin check reports the presented keys")
    func report() throws {
        let names = ["good", "intermediate", "root"]
        let pins = try names.map { try PKIEntry.named($0).pin }
        let other = try PKIEntry.named("ecdsa").pin
        let byDigest = try PublicKeyPinsTrustEvaluator(pins: [other])
        let byKey = PublicKeysTrustEvaluator(keys: [try Fixture.key("ecdsa")])
        let byCertificate = PinnedCertificatesTrustEvaluator(certificates: [try Fixture.certificate("ecdsa")])
        for evaluator in [byDigest, byKey, byCertificate] as [any ServerTrustEvaluating] {
            let thrown = #expect(throws: (any Error).self) {
                try evaluator.evaluate(try Fixture.trust("good"), forHost: "good.test")
            }
            let error = try #require(thrown)
            let failure = error.asAFError(
                or: .serverTrustEvaluationFailed(reason: .customEvaluationFailed(error: error)))
            let report = try #require(failure.pinningReport)
            #expect(report.host == "good.test" && report.expected == [other])
            #expect(report.presented.map(\.pin) == pins)
            #expect(report.description.contains(pins[0]) && report.description.contains("good.test"))
        }
        #expect(AFError.explicitlyCancelled.pinningReport == nil)
        #expect(AFError.serverTrustEvaluationFailed(reason: .noPublicKeysFound).pinningReport == nil)
    }
}
