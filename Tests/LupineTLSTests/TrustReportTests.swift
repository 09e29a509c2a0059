// SPDX-License-Identifier: MIT

import LupineTestKit
import Testing

@testable import LupineTLS

/// Tests of reports about a peer under several policies, and about clients as peers.
@Suite struct TrustReportTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let what: String
        let leaf: String
        var roots = ["root"]
        let policies: [TrustPolicy]
        let verdict: String

        var testDescription: String { what }
    }

    static let rows: [Row] = [
        Row(
            what: "all pass", leaf: "good",
            policies: [.basic, .server(host: nil), .server(host: "good.test")],
            verdict: "accepted"),
        Row(
            what: "the second does not", leaf: "good", policies: [.basic, .server(host: "evil.test")],
            verdict: "hostMismatch evil.test"),
        Row(
            what: "the most serious is told", leaf: "untrusted",
            policies: [.server(host: "evil.test"), .basic], verdict: "issuerMissing untrusted of other-root"),
        Row(
            what: "a client", leaf: "client-rsa", roots: ["client-root"], policies: [.client(host: nil)],
            verdict: "accepted"),
        Row(
            what: "a client below an intermediate", leaf: "client-ecdsa", roots: ["client-root"],
            policies: [.client(host: nil)], verdict: "accepted"),
        Row(
            what: "a client is no server", leaf: "client-rsa", roots: ["client-root"],
            policies: [.server(host: nil)], verdict: "wrongUsage client-rsa"),
        Row(
            what: "a certificate for clients alone", leaf: "wrong-usage", policies: [.client(host: nil)],
            verdict: "accepted"),
        Row(
            what: "a client that nobody trusts", leaf: "client-untrusted", roots: ["client-root"],
            policies: [.client(host: nil)], verdict: "issuerMissing client-untrusted of other-root"),
        Row(
            what: "a client with a weak key", leaf: "weak-key", policies: [.client(host: nil)],
            verdict: "weakKey weak-key 1024"),
        Row(
            what: "a client under another name", leaf: "wrong-usage", policies: [.client(host: "evil.test")],
            verdict: "hostMismatch evil.test"),
    ]

    @Test(arguments: rows)
    func verdicts(_ row: Row) throws {
        let trust = try TrustFixture.trust(row.leaf, roots: row.roots)
        let report = trust.report(under: row.policies, at: TrustFixture.now)
        #expect((report.failure.map(brief) ?? "accepted") == row.verdict)
        #expect(report.chain == trust.chain())
    }

    @Test func theResponseAboutTheLeafIsChosen() throws {
        let trust = try TrustFixture.trust("revoked-ocsp")
        let responses = [try PKI.bytes("ocsp/good.der"), try PKI.bytes("ocsp/revoked.der")]
        let policies: [TrustPolicy] = [.revocation([.ocsp, .networkAccessDisabled])]
        let report = trust.report(under: policies, responses: responses, at: TrustFixture.answersBegin)
        #expect(report.failure.map(brief)?.hasPrefix("revoked revoked-ocsp") == true)
    }

    /// Checks failures against OpenSSL's verdicts, as the fixtures list them.
    @Test func failuresHaveTheirNumbers() throws {
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
