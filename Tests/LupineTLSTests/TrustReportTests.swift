// SPDX-License-Identifier: MIT

import LupineTestKit
import Testing

@testable import LupineTLS

/// Tests of reports about a peer under several policies, and about clients as peers.
@Suite struct TrustReportTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let title: String
        let leaf: String
        var roots = ["root"]
        let policies: [TrustPolicy]
        let verdict: String

        var testDescription: String { title }
    }

    static let rows: [Row] = [
        Row(
            title: "all policies pass", leaf: "good",
            policies: [.basic, .server(host: nil), .server(host: "good.test")],
            verdict: "accepted"),
        Row(
            title: "the second policy fails", leaf: "good", policies: [.basic, .server(host: "evil.test")],
            verdict: "hostMismatch evil.test"),
        Row(
            title: "the most serious failure is reported", leaf: "untrusted",
            policies: [.server(host: "evil.test"), .basic], verdict: "issuerMissing untrusted of other-root"),
        Row(
            title: "a client", leaf: "client-rsa", roots: ["client-root"], policies: [.client(host: nil)],
            verdict: "accepted"),
        Row(
            title: "a client below an intermediate", leaf: "client-ecdsa", roots: ["client-root"],
            policies: [.client(host: nil)], verdict: "accepted"),
        Row(
            title: "a client is no server", leaf: "client-rsa", roots: ["client-root"],
            policies: [.server(host: nil)], verdict: "wrongUsage client-rsa"),
        Row(
            title: "a certificate for clients only", leaf: "wrong-usage", policies: [.client(host: nil)],
            verdict: "accepted"),
        Row(
            title: "a client without a trusted root", leaf: "client-untrusted", roots: ["client-root"],
            policies: [.client(host: nil)], verdict: "issuerMissing client-untrusted of other-root"),
        Row(
            title: "a client with a weak key", leaf: "weak-key", policies: [.client(host: nil)],
            verdict: "weakKey weak-key 1024"),
        Row(
            title: "a client under another name", leaf: "wrong-usage", policies: [.client(host: "evil.test")],
            verdict: "hostMismatch evil.test"),
    ]

    @Test(arguments: rows)
    func verdicts(_ row: Row) throws {
        let trust = try TrustFixture.trust(row.leaf, roots: row.roots)
        let report = trust.report(under: row.policies, at: TrustFixture.now)
        #expect((report.failure.map(summary) ?? "accepted") == row.verdict)
        #expect(report.chain == trust.chain())
    }

    @Test func theResponseForTheLeafIsUsed() throws {
        let trust = try TrustFixture.trust("revoked-ocsp")
        let responses = [try PKI.bytes("ocsp/good.der"), try PKI.bytes("ocsp/revoked.der")]
        let policies: [TrustPolicy] = [.revocation([.ocsp, .networkAccessDisabled])]
        let report = trust.report(under: policies, responses: responses, at: TrustFixture.answersBegin)
        #expect(report.failure.map(summary)?.hasPrefix("revoked revoked-ocsp") == true)
    }

    /// Checks failures against OpenSSL's verdicts, as the fixtures list them.
    @Test func failuresHaveOpenSSLsCodes() throws {
        let same = [
            "expired", "not-yet-valid", "self-signed", "untrusted", "bad-signature", "wrong-host",
            "wrong-usage", "weak-key", "no-san", "critical", "constrained-outside", "path-length",
        ]
        for name in same {
            let entry = try PKIEntry.named(name)
            let trust = try TrustFixture.trust(name)
            let report = trust.report(under: [.server(host: entry.host)], at: TrustFixture.now)
            #expect(report.failure?.verificationCode == entry.code.map(Int.init), "\(name)")
        }
    }
}
