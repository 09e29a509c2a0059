// SPDX-License-Identifier: MIT

import LupineTestKit
import Testing

@testable import LupineTLS

/// Tests of pins against the built chain (I-10.4 to I-10.9), and of the chain itself (I-12.5).
@Suite struct TrustPinTests {
    struct ChainRow: Sendable, CustomTestStringConvertible {
        let title: String
        let sent: [String]
        var roots = ["root"]
        var supplied: [String] = []
        let chain: [String]
        let verdict: String

        var testDescription: String { title }
    }

    static let chains: [ChainRow] = [
        ChainRow(
            title: "the root is added to the sent certificates", sent: ["good", "intermediate"],
            chain: ["good", "intermediate", "root"], verdict: "accepted"),
        ChainRow(
            title: "a root that was sent appears once", sent: ["good", "intermediate", "root"],
            chain: ["good", "intermediate", "root"], verdict: "accepted"),
        ChainRow(
            title: "a missing intermediate ends the chain", sent: ["good"], chain: ["good"],
            verdict: "issuerMissing good of intermediate"),
        ChainRow(
            title: "a supplied intermediate completes the chain", sent: ["good"], supplied: ["intermediate"],
            chain: ["good", "intermediate", "root"], verdict: "accepted"),
        ChainRow(
            title: "unrelated certificates are absent",
            sent: ["good", "client-root", "ecdsa", "intermediate"],
            chain: ["good", "intermediate", "root"], verdict: "accepted"),
        ChainRow(
            title: "the order does not matter", sent: ["deep", "intermediate", "intermediate-second"],
            chain: ["deep", "intermediate-second", "intermediate", "root"], verdict: "accepted"),
        ChainRow(
            title: "an issuer that only has the right name is not linked",
            sent: ["good", "intermediate-impostor"],
            chain: ["good"], verdict: "issuerMissing good of intermediate"),
        ChainRow(
            title: "an invalid signature ends the chain", sent: ["bad-signature", "intermediate"],
            chain: ["bad-signature"], verdict: "badSignature bad-signature"),
        ChainRow(
            title: "an expired chain is built", sent: ["expired", "intermediate"],
            chain: ["expired", "intermediate", "root"], verdict: "expired expired 1640995199"),
        ChainRow(
            title: "an intermediate may be the anchor", sent: ["good"], roots: ["intermediate"],
            chain: ["good", "intermediate"], verdict: "accepted"),
        ChainRow(
            title: "a leaf may be the anchor", sent: ["good", "intermediate"], roots: ["good"],
            chain: ["good"],
            verdict: "accepted"),
        ChainRow(
            title: "a self-signed leaf that is its own anchor", sent: ["self-signed"], roots: ["self-signed"],
            chain: ["self-signed"], verdict: "accepted"),
        ChainRow(
            title: "an expired root as anchor", sent: ["expired-root"], roots: ["root-expired"],
            chain: ["expired-root", "root-expired"], verdict: "accepted"),
        ChainRow(
            title: "a cross-signed intermediate leads to the other root",
            sent: ["good", "intermediate-cross"],
            roots: ["other-root"], chain: ["good", "intermediate", "other-root"], verdict: "accepted"),
        ChainRow(
            title: "the trusted one of two paths is found",
            sent: ["good", "intermediate-cross", "intermediate"],
            chain: ["good", "intermediate", "root"], verdict: "accepted"),
        ChainRow(
            title: "a root is not trusted because it was sent", sent: ["untrusted", "other-root"],
            chain: ["untrusted", "other-root"], verdict: "untrustedRoot other-root"),
        ChainRow(
            title: "no roots at all", sent: ["good", "intermediate"], roots: [],
            chain: ["good", "intermediate"],
            verdict: "issuerMissing intermediate of root"),
    ]

    private func trust(_ row: ChainRow) throws -> PeerTrust {
        PeerTrust(
            certificates: try row.sent.map { try TrustFixture.certificate($0) }, stapledResponse: nil,
            host: "localhost",
            store: TrustStore(anchors: try row.roots.map { try TrustFixture.certificate($0) }),
            intermediates: try row.supplied.map { try TrustFixture.certificate($0) })
    }

    @Test(arguments: chains)
    func theBuiltChain(_ row: ChainRow) throws {
        let trust = try trust(row)
        #expect(trust.chain().map { commonName($0.subject.description) } == row.chain)
        #expect(verdict(TrustEvaluator.default.evaluate(trust, at: TrustFixture.now)) == row.verdict)
        // Only certificates in the built chain can match a pin.
        for name in ["good", "intermediate", "root", "other-root", "intermediate-impostor"] {
            let isLinked = try trust.chain().contains(TrustFixture.certificate(name))
            let pinned = TrustEvaluator.pinnedCertificates(
                [try TrustFixture.certificate(name)], validatesChain: false, checksHost: false)
            #expect(
                verdict(pinned.evaluate(trust, at: TrustFixture.now))
                    == (isLinked ? "accepted" : "certificateNotPinned"), "pin of \(name)")
        }
    }

    @Test(arguments: ["good", "intermediate", "root"])
    func anyPartOfTheChainMayBePinned(_ name: String) throws {
        let trust = try TrustFixture.trust("good")
        let other = try TrustFixture.certificate("other-root")
        let certificate = try TrustFixture.certificate(name)
        for pins in [[certificate], [other, certificate]] {
            #expect(
                verdict(TrustEvaluator.pinnedCertificates(pins).evaluate(trust, at: TrustFixture.now))
                    == "accepted")
        }
        let key = try TrustFixture.pin(name)
        for pins in [[key], [try TrustFixture.pin("other-root"), key]] {
            #expect(
                verdict(TrustEvaluator.pinnedKeys(pins).evaluate(trust, at: TrustFixture.now)) == "accepted")
        }
    }

    @Test func pinFailuresNameTheExpectedAndTheFoundPins() throws {
        let trust = try TrustFixture.trust("good")
        let expected = try TrustFixture.pin("other-root")
        #expect(expected.description == "sha256/2khG73zo4olo68AEjXmBYIn9lszuOq0xYO3cRTuJUvc=")
        #expect(
            throws: TrustFailure.keyNotPinned(
                expected: [expected.description],
                found: try ["good", "intermediate", "root"].map { try TrustFixture.pin($0).description })
        ) { try TrustEvaluator.pinnedKeys([expected]).evaluate(trust, at: TrustFixture.now).get() }
        let failure = #expect(throws: TrustFailure.self) {
            try TrustEvaluator.pinnedCertificates([TrustFixture.certificate("other-root")])
                .evaluate(trust, at: TrustFixture.now).get()
        }
        let text = failure?.description ?? ""
        #expect(text.contains("100afad2ec680c304979c5310b31cf5a93e807544df78aca2df7ea4f1360cb0f"))
        #expect(text.contains("421a4c46c8b7465e3307faf94f4129d59a4f26f4141e8dfc1fa99b9c129bb90a"))
    }

    @Test func afterARenewalOnlyThePinOfTheKeyMatches() throws {
        let renewed = try TrustFixture.trust("renewed")
        let keys = TrustEvaluator.pinnedKeys([try TrustFixture.pin("good")])
        #expect(verdict(keys.evaluate(renewed, at: TrustFixture.now)) == "accepted")
        let certificates = TrustEvaluator.pinnedCertificates([try TrustFixture.certificate("good")])
        #expect(verdict(certificates.evaluate(renewed, at: TrustFixture.now)) == "certificateNotPinned")
        let otherKey = try TrustFixture.trust("renewed-other-key")
        #expect(verdict(keys.evaluate(otherKey, at: TrustFixture.now)) == "keyNotPinned")
    }

    @Test func pinnedSelfSignedNeedsToBeTheAnchorOrNoValidation() throws {
        let trust = try TrustFixture.trust("self-signed")
        let pin = try TrustFixture.certificate("self-signed")
        let rows: [(TrustEvaluator, String)] = [
            (.pinnedCertificates([pin]), "selfSigned self-signed"),
            (.pinnedCertificates([pin], acceptsSelfSigned: true), "accepted"),
            (.pinnedCertificates([pin], validatesChain: false, checksHost: false), "accepted"),
            (.pinnedCertificates([pin], validatesChain: false), "selfSigned self-signed"),
            (.pinnedKeys([try TrustFixture.pin("self-signed")]), "selfSigned self-signed"),
        ]
        for (evaluator, expected) in rows {
            #expect(verdict(evaluator.evaluate(trust, at: TrustFixture.now)) == expected)
        }
    }

    @Test func acceptedSelfSignedPinsAreTheOnlyAnchors() throws {
        let trust = try TrustFixture.trust("good")
        let evaluator = TrustEvaluator.pinnedCertificates(
            [try TrustFixture.certificate("other-root")], acceptsSelfSigned: true)
        #expect(
            verdict(evaluator.evaluate(trust, at: TrustFixture.now)) == "issuerMissing intermediate of root")
        // The anchors also apply to the next evaluator of a composite (I-10.1), but only in this evaluation.
        let pinned = TrustEvaluator.pinnedCertificates(
            [try TrustFixture.certificate("other-root"), try TrustFixture.certificate("good")],
            acceptsSelfSigned: true, validatesChain: false, checksHost: false)
        let composite = TrustEvaluator.composite([pinned, .pinnedKeys([try TrustFixture.pin("root")])])
        #expect(verdict(composite.evaluate(trust, at: TrustFixture.now)) == "keyNotPinned")
        #expect(verdict(TrustEvaluator.default.evaluate(trust, at: TrustFixture.now)) == "accepted")
    }

    @Test func emptyPinsAreReportedFirst() throws {
        let trust = try TrustFixture.trust("expired")
        for evaluator in [TrustEvaluator.pinnedCertificates([]), .pinnedKeys([])] {
            #expect(verdict(evaluator.evaluate(trust, at: TrustFixture.now)) == "noPins")
        }
    }
}
