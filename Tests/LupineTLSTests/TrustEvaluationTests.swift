// SPDX-License-Identifier: MIT

import LupineTestKit
import Testing

@testable import LupineTLS

/// Tests of the steps of an evaluation and of the equality of evaluators.
@Suite struct TrustEvaluationTests {
    private func name(of step: TrustEvaluation.Step) -> String {
        switch step {
        case .finished(let result): verdict(result)
        case .needsWorker: "needsWorker"
        case .asks: "asks"
        }
    }

    @Test func checksRunUntilOneNeedsAWorkerOrACallback() throws {
        let trust = try TrustFixture.trust("good-ocsp")
        let evaluator = TrustEvaluator.composite([
            .default, .revocation(.ocsp), .custom { _, reply in reply(.success(())) },
            .pinnedKeys([try TrustFixture.pin("intermediate")]),
        ])
        #expect(!evaluator.isLocal)
        var evaluation = TrustEvaluation(of: trust, by: evaluator, at: TrustFixture.now)
        #expect(name(of: evaluation.resume()) == "needsWorker")
        #expect(name(of: evaluation.resume()) == "needsWorker", "a second call changes nothing")
        let access = RevocationAccess(fetcher: FakeFetcher([:]), deadline: .now + .seconds(60))
        #expect(name(of: evaluation.resumeOnWorker(revocation: access)) == "asks")
        var refused = evaluation
        #expect(name(of: evaluation.answer(.success(()))) == "accepted")
        #expect(name(of: refused.answer(.failure(.refused("no")))) == "refused no")
    }

    @Test func theFirstRefusalOfACompositeIsTheVerdict() throws {
        let trust = try TrustFixture.trust("good", host: "evil.test")
        let wrongPin = TrustEvaluator.pinnedKeys(
            [try TrustFixture.pin("other-root")], validatesChain: false, checksHost: false)
        #expect(
            verdict(TrustEvaluator.composite([.default, wrongPin]).evaluate(trust, at: TrustFixture.now))
                == "hostMismatch evil.test")
        #expect(
            verdict(TrustEvaluator.composite([wrongPin, .default]).evaluate(trust, at: TrustFixture.now))
                == "keyNotPinned")
        #expect(verdict(TrustEvaluator.composite([]).evaluate(trust, at: TrustFixture.now)) == "accepted")
    }

    @Test func aCustomCheckGetsTheAnchorsOfEarlierEvaluators() throws {
        let trust = try TrustFixture.trust("self-signed", roots: [])
        let pin = try TrustFixture.certificate("self-signed")
        var evaluation = TrustEvaluation(
            of: trust,
            by: .composite([
                .pinnedCertificates([pin], acceptsSelfSigned: true),
                .custom { trust, reply in reply(trust.evaluate(.basic, at: TrustFixture.now)) },
            ]), at: TrustFixture.now)
        guard case .asks(let check, let seen) = evaluation.resume() else {
            Issue.record("the custom check was not reached")
            return
        }
        #expect(verdict(seen.evaluate(.basic, at: TrustFixture.now)) == "accepted")
        check.ask(about: seen) { reply in #expect(verdict(reply) == "accepted") }
    }

    @Test func aVerdictLastsUntilTheFirstCertificateExpires() throws {
        func reusableUntil(_ evaluator: TrustEvaluator, _ leaf: String = "good") throws -> Int64? {
            try evaluator.evaluate(TrustFixture.trust(leaf), at: TrustFixture.now).get().reusableUntil?
                .seconds
        }
        #expect(try reusableUntil(.default) == 4_102_444_799)
        #expect(try reusableUntil(.pinnedKeys([TrustFixture.pin("root")])) == 4_102_444_799)
        #expect(try reusableUntil(.disabled) == .max)
        #expect(try reusableUntil(.revocation(.networkAccessDisabled)) == nil)
        var expired = try TrustFixture.trust("expired")
        expired.store = TrustStore(anchors: [try TrustFixture.certificate("intermediate")])
        let then = UnixTime(seconds: 1_600_000_000)
        #expect(
            try TrustEvaluator.default.evaluate(expired, at: then).get().reusableUntil?.seconds
                == 1_640_995_199)
    }

    /// Checks that the verdict about a must-staple certificate expires with its staple (RFC 7633).
    @Test func aVerdictLastsNoLongerThanARequiredStaple() throws {
        let end = TrustFixture.now.adding(3600)
        func reusableUntil(_ leaf: String) throws -> Int64? {
            let certificate = try TrustFixture.certificate(leaf)
            var trust = try TrustFixture.trust(leaf)
            trust = PeerTrust(
                certificates: trust.certificates,
                stapledResponse: try OCSPResponseMaker.good(certificate, from: TrustFixture.now, until: end),
                host: "localhost", store: trust.store)
            return try TrustEvaluator.default.evaluate(trust, at: TrustFixture.now).get().reusableUntil?
                .seconds
        }
        #expect(try reusableUntil("must-staple") == end.adding(OCSPResponse.clockSkew).seconds)
        #expect(try reusableUntil("good-ocsp") == 4_102_444_799)
    }

    @Test func equalEvaluatorsAreEqualKeys() throws {
        let good = try TrustFixture.certificate("good")
        let again = try Certificate(der: PKI.bytes("good.der"))
        let root = try TrustFixture.certificate("root")
        let list = try RevocationList(der: PKI.bytes("crl/empty.crl"))
        let custom = TrustEvaluator.custom { _, reply in reply(.success(())) }
        let distinct: [TrustEvaluator] = [
            .default, .system(checksHost: false), .disabled, custom,
            .custom { _, reply in reply(.success(())) },
            .pinnedCertificates([good]), .pinnedCertificates([root]), .pinnedCertificates([good, root]),
            .pinnedCertificates([good], acceptsSelfSigned: true),
            .pinnedCertificates([good], validatesChain: false, checksHost: false),
            .pinnedCertificates([]), .pinnedKeys([]),
            .pinnedKeys([try TrustFixture.pin("good")]), .pinnedKeys([try TrustFixture.pin("root")]),
            .revocation(), .revocation(.ocsp), .revocation([.any, .requirePositiveResponse]),
            .revocation(lists: [list]), .revocation(.networkAccessDisabled),
        ]
        #expect(Set(distinct).count == distinct.count)
        let same: [(TrustEvaluator, TrustEvaluator)] = [
            (.default, .system()), (custom, custom), (.composite([.default]), .default),
            (.pinnedCertificates([good, root]), .pinnedCertificates([root, again])),
            (
                .pinnedCertificates([good], acceptsSelfSigned: true),
                .pinnedCertificates([again], acceptsSelfSigned: true)
            ),
            (
                .revocation(lists: [list]),
                .revocation(lists: [try RevocationList(der: PKI.bytes("crl/empty.crl"))])
            ),
        ]
        for (left, right) in same {
            #expect(left == right)
            #expect(left.hashValue == right.hashValue)
        }
    }

    @Test func failuresNameTheCertificateTheTimeAndTheRemedy() throws {
        let rows: [(String, String, [String])] = [
            ("expired", "localhost", ["CN=expired,", "2021-12-31", "renewed"]),
            ("not-yet-valid", "localhost", ["2098-01-01", "clock"]),
            ("wrong-host", "localhost", ["other.test", "not for localhost"]),
            ("untrusted", "localhost", ["CN=untrusted", "Lupine other-root", "send"]),
            ("self-signed", "localhost", ["CN=self-signed", "anchor"]),
            ("weak-key", "localhost", ["1024 bits"]),
        ]
        for (leaf, host, parts) in rows {
            let failure = try #require(throws: TrustFailure.self) {
                try TrustEvaluator.default.evaluate(
                    TrustFixture.trust(leaf, host: host), at: TrustFixture.now
                )
                .get()
            }
            for part in parts { #expect(failure.description.contains(part), "\(failure)") }
        }
    }
}
