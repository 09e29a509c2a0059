// SPDX-License-Identifier: MIT

import LupineTestKit
import Testing

@testable import LupineTLS

/// Tests of how a list's extensions change its scope and the meaning of its entries (RFC 5280 §5.2, §5.3).
@Suite struct RevocationScopeTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let title: String
        let settings: String
        var isRevoked = false
        let expected: String

        var testDescription: String { title }
    }

    /// Returns settings of a list with an issuing distribution point (RFC 5280 §5.2.5).
    private static func point(_ lines: String) -> String {
        "[list]\nissuingDistributionPoint = critical,@point\n[point]\n" + lines
    }

    static let ownPoint = "fullname = URI:http://revocation.test/intermediate.crl\n"

    static let rows: [Row] = [
        Row(title: "no extensions", settings: "[list]\n", expected: "good"),
        Row(title: "the certificate's distribution point", settings: point(ownPoint), expected: "good"),
        Row(
            title: "revoked at the certificate's distribution point", settings: point(ownPoint),
            isRevoked: true,
            expected: "revoked 1704067200 -"),
        Row(
            title: "another distribution point",
            settings: point("fullname = URI:http://revocation.test/other.crl\n"),
            expected: "otherCertificate"),
        Row(
            title: "for user certificates only", settings: point(ownPoint + "onlyuser = TRUE\n"),
            expected: "good"),
        Row(
            title: "for authorities only", settings: point(ownPoint + "onlyCA = TRUE\n"),
            expected: "otherCertificate"),
        Row(
            title: "for attribute certificates only", settings: point(ownPoint + "onlyAA = TRUE\n"),
            expected: "unsupported"),
        Row(
            title: "an indirect list", settings: point(ownPoint + "indirectCRL = TRUE\n"),
            expected: "unsupported"),
        Row(
            title: "for some reasons only", settings: point(ownPoint + "onlysomereasons = keyCompromise\n"),
            expected: "unsupported"),
        Row(
            title: "a distribution point relative to the issuer",
            settings:
                "[list]\nissuingDistributionPoint = critical,"
                + "DER:30:11:A0:0F:A1:0D:30:0B:06:03:55:04:03:0C:04:6C:69:73:74\n", expected: "unsupported"),
        Row(
            title: "a delta list", settings: "[list]\ndeltaCRL = critical,DER:02:01:01\n",
            expected: "unsupported"),
        Row(
            title: "the reason certificateHold", settings: "[list]\n# reason = 6\n", isRevoked: true,
            expected: "revoked 1704067200 certificateHold"),
        Row(
            title: "the reason removeFromCRL", settings: "[list]\n# reason = 8\n", isRevoked: true,
            expected: "good"),
        Row(
            title: "a critical extension of an entry", settings: "[list]\n# critical entry\n",
            isRevoked: true,
            expected: "unsupported"),
    ]

    @Test(arguments: rows)
    func extensionsLimitTheScope(_ row: Row) throws {
        let leaf = try TrustFixture.certificate("good-crl")
        let issuer = try TrustFixture.certificate("intermediate")
        let bytes = try RevocationListMaker.list(row.settings, revoked: row.isRevoked ? leaf : nil)
        let found = summary { () throws(RevocationProblem) in
            let list = try RevocationList(der: bytes)
            try list.verifySignature(of: issuer)
            return try list.status(of: leaf, at: TrustFixture.now)
        }
        #expect(found == row.expected)
    }

    /// Checks that a list for one distribution point does not apply to a certificate that names none.
    @Test func aListForOneDistributionPointCoversNoOther() throws {
        let list = try RevocationList(der: RevocationListMaker.list(Self.point(Self.ownPoint)))
        let good = try TrustFixture.certificate("good")
        #expect(throws: RevocationProblem.otherCertificate) {
            try list.status(of: good, at: TrustFixture.now)
        }
    }

    /// Checks that threads can share the store, the certificates and a list.
    @Test func evaluationsRunAtTheSameTime() async throws {
        let list = try RevocationList(der: PKI.bytes("crl/intermediate.crl"))
        let evaluator = TrustEvaluator.composite([
            .default,
            .revocation(.networkAccessDisabled, lists: [list], validatesChain: false, checksHost: false),
        ])
        let trust = try TrustFixture.trust("revoked-crl")
        let verdicts = await withTaskGroup(of: Set<String>.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    Set((0..<100).map { _ in verdict(evaluator.evaluate(trust, at: TrustFixture.now)) })
                }
            }
            return await group.reduce(into: Set<String>()) { $0.formUnion($1) }
        }
        #expect(verdicts == ["revoked revoked-crl 1704067200 keyCompromise"])
    }
}
