// SPDX-License-Identifier: MIT

import LupineTestKit
import Testing

@testable import LupineTLS

/// Tests of each OCSP response and revocation list of the fixtures, for one certificate at one time.
@Suite struct RevocationAnswerTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let answer: String
        var certificate = "good-ocsp"
        var issuer = "intermediate"
        var at = TrustFixture.now.seconds
        let expected: String

        var testDescription: String { "\(answer) about \(certificate) at \(at)" }
    }

    /// 2024-01-08T00:00:00Z, when the short-lived responses expire.
    static let end: Int64 = 1_704_672_000
    static let begin = TrustFixture.answersBegin.seconds
    static let keyCompromise = "revoked 1704067200 keyCompromise"

    static let responses: [Row] = [
        Row(answer: "good", expected: "good"),
        Row(answer: "good", at: begin - 300, expected: "good"),
        Row(answer: "good", at: begin - 301, expected: "outdated"),
        Row(answer: "good-delegated", expected: "good"),
        Row(answer: "good-sha256", expected: "good"),
        Row(answer: "good-no-next", at: begin + 86_400, expected: "good"),
        Row(answer: "good-no-next", at: begin + 86_701, expected: "outdated"),
        Row(answer: "good-both", certificate: "good-both", expected: "good"),
        Row(answer: "good-revoked-crl", certificate: "revoked-crl", expected: "good"),
        Row(answer: "many", expected: "good"),
        Row(answer: "must-staple", certificate: "must-staple", expected: "good"),
        Row(answer: "revoked", certificate: "revoked-ocsp", expected: keyCompromise),
        Row(answer: "revoked-delegated", certificate: "revoked-ocsp", expected: keyCompromise),
        Row(answer: "revoked-expired", certificate: "revoked-ocsp", expected: "outdated"),
        Row(
            answer: "revoked-expired", certificate: "revoked-ocsp", at: begin + 86_400,
            expected: keyCompromise),
        Row(answer: "unknown", expected: "unknownCertificate"),
        Row(answer: "checked", certificate: "checked", issuer: "intermediate-checked", expected: "good"),
        Row(answer: "issuer-checked", certificate: "intermediate-checked", issuer: "root", expected: "good"),
        Row(answer: "expired", expected: "outdated"),
        Row(answer: "expired", at: begin + 86_400, expected: "good"),
        Row(answer: "expired", at: end + 300, expected: "good"),
        Row(answer: "expired", at: end + 301, expected: "outdated"),
        Row(answer: "not-yet-valid", expected: "outdated"),
        Row(answer: "other-serial", expected: "otherCertificate"),
        Row(answer: "wrong-key", expected: "badSignature"),
        Row(answer: "delegated-expired", expected: "badSignature"),
        Row(answer: "delegated-no-usage", expected: "badSignature"),
        Row(answer: "delegated-foreign", expected: "badSignature"),
        Row(answer: "try-later", expected: "responderRefused 3"),
        Row(answer: "garbage", expected: "malformed"),
        // A valid response about another certificate.
        Row(answer: "good", certificate: "revoked-ocsp", expected: "otherCertificate"),
        Row(answer: "good", certificate: "good-ocsp", issuer: "root", expected: "badSignature"),
        Row(
            answer: "good", certificate: "good-ocsp", issuer: "intermediate-impostor",
            expected: "badSignature"),
    ]

    @Test(arguments: responses)
    func responseIsVerified(_ row: Row) throws {
        let bytes = try PKI.bytes("ocsp/\(row.answer).der")
        let (certificate, issuer) = try certificates(row)
        let time = UnixTime(seconds: row.at)
        let found = summary { () throws(RevocationProblem) in
            try OCSPResponse(bytes, about: certificate, issuer: issuer, at: time).status
        }
        #expect(found == row.expected)
    }

    static let lists: [Row] = [
        Row(answer: "intermediate", certificate: "revoked-crl", expected: keyCompromise),
        Row(answer: "intermediate", certificate: "good-crl", expected: "good"),
        Row(answer: "intermediate", certificate: "good-crl", at: begin - 301, expected: "outdated"),
        Row(answer: "empty", certificate: "revoked-crl", expected: "good"),
        Row(answer: "checked", certificate: "checked", issuer: "intermediate-checked", expected: "good"),
        Row(answer: "expired", certificate: "good-crl", expected: "outdated"),
        Row(answer: "expired", certificate: "good-crl", at: end + 300, expected: "good"),
        Row(answer: "expired", certificate: "good-crl", at: end + 301, expected: "outdated"),
        Row(answer: "not-yet-valid", certificate: "good-crl", expected: "outdated"),
        Row(answer: "wrong-key", certificate: "good-crl", expected: "badSignature"),
        Row(answer: "critical", certificate: "good-crl", expected: "unsupported"),
        Row(
            answer: "root", certificate: "intermediate-revoked", issuer: "root",
            expected: "revoked 1704067200 cACompromise"),
        Row(answer: "root", certificate: "intermediate", issuer: "root", expected: "good"),
        Row(answer: "root", certificate: "good-crl", expected: "otherCertificate"),
        Row(answer: "garbage", certificate: "good-crl", expected: "malformed"),
    ]

    @Test(arguments: lists)
    func listIsVerified(_ row: Row) throws {
        let bytes = try PKI.bytes("crl/\(row.answer).crl")
        let (certificate, issuer) = try certificates(row)
        let time = UnixTime(seconds: row.at)
        let found = summary { () throws(RevocationProblem) in
            let list = try RevocationList(der: bytes)
            try list.verifySignature(of: issuer)
            return try list.status(of: certificate, at: time)
        }
        #expect(found == row.expected)
    }

    /// Checks that a signed response becomes invalid if any byte is changed, cut off or added.
    @Test func everyByteOfAResponseIsProtected() throws {
        let good = try PKI.bytes("ocsp/good.der")
        let (certificate, issuer) = try certificates(Row(answer: "good", expected: ""))
        func isGood(_ bytes: [UInt8]) -> Bool {
            summary { () throws(RevocationProblem) in
                try OCSPResponse(bytes, about: certificate, issuer: issuer, at: TrustFixture.now).status
            } == "good"
        }
        #expect(isGood(good))
        #expect(!isGood(good + [0]))
        for cut in good.indices { #expect(!isGood(Array(good[..<cut])), "cut at \(cut)") }
        let unprotected = good.indices.filter { index in
            var changed = good
            changed[index] ^= 0x01
            return isGood(changed)
        }
        #expect(
            unprotected == [229],
            "the tag of the signature algorithm's empty parameters, which are not signed")
    }

    /// Checks that the received bytes are verified, not a re-encoding of them, which would turn BER into the DER that was signed
    /// (X.690 §10): here the tag of a SEQUENCE lacks the constructed bit.
    @Test func theReceivedBytesAreVerified() throws {
        var answer = try PKI.bytes("ocsp/good-delegated.der")
        let (certificate, issuer) = try certificates(Row(answer: "good-delegated", expected: ""))
        func outcome() -> String {
            summary { () throws(RevocationProblem) in
                try OCSPResponse(answer, about: certificate, issuer: issuer, at: TrustFixture.now).status
            }
        }
        #expect(outcome() == "good")
        #expect(answer[78] == 0x30)
        answer[78] = 0x10
        #expect(outcome() == "malformed")
    }

    @Test func everyByteOfAListIsProtected() throws {
        let bytes = try PKI.bytes("crl/intermediate.crl")
        let (certificate, issuer) = try certificates(Row(answer: "", certificate: "good-crl", expected: ""))
        func isGood(_ bytes: [UInt8]) -> Bool {
            summary { () throws(RevocationProblem) in
                let list = try RevocationList(der: bytes)
                try list.verifySignature(of: issuer)
                return try list.status(of: certificate, at: TrustFixture.now)
            } == "good"
        }
        #expect(isGood(bytes))
        #expect(!isGood(bytes + [0]))
        for cut in bytes.indices { #expect(!isGood(Array(bytes[..<cut])), "cut at \(cut)") }
        let unprotected = bytes.indices.filter { index in
            var changed = bytes
            changed[index] ^= 0x01
            return isGood(changed)
        }
        #expect(
            unprotected == [214],
            "the tag of the signature algorithm's empty parameters, which are not signed")
    }

    private func certificates(_ row: Row) throws -> (Certificate, Certificate) {
        (try TrustFixture.certificate(row.certificate), try TrustFixture.certificate(row.issuer))
    }
}
