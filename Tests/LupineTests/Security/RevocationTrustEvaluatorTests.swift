// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineTestKit
import Testing

@testable import Lupine

/// The revocation evaluator with stapled OCSP responses, without network access.
@Suite struct RevocationTrustEvaluatorTests {
    private typealias Fixture = TrustFixture

    /// 2024-01-01, when the validity of the prepared OCSP responses begins.
    private static let answersBegin = Date(timeIntervalSince1970: 1_704_067_200)

    private static func trust(_ leaf: String, stapled: String?) throws -> SecTrust {
        let trust = try Fixture.trust(leaf)
        #expect(SecTrustSetVerifyDate(trust, answersBegin) == errSecSuccess)
        #expect(SecTrustSetNetworkFetchAllowed(trust, false) == errSecSuccess)
        if let stapled {
            #expect(
                SecTrustSetOCSPResponse(trust, Data(try PKI.bytes("ocsp/\(stapled).der"))) == errSecSuccess)
        }
        return trust
    }

    @Test("the options have the same raw values as Apple's")
    func options() {
        typealias Options = RevocationTrustEvaluator.Options
        let rows: [(Options, CFOptionFlags)] = [
            (.ocsp, 1), (.crl, 2), (.preferCRL, 4), (.requirePositiveResponse, 8),
            (.networkAccessDisabled, 16),
            (.any, 3), ([.ocsp, .crl], 3), (Options(rawValue: 9), 9),
        ]
        for (options, bits) in rows { #expect(options.rawValue == bits) }
    }

    @Test("[I-10.11] a revoked certificate is refused; an unknown status only if a response is required")
    func answers() throws {
        let required: RevocationTrustEvaluator.Options = [.ocsp, .requirePositiveResponse]
        let rows:
            [(leaf: String, stapled: String?, options: RevocationTrustEvaluator.Options, status: OSStatus)] =
                [
                    ("good-ocsp", "good", .any, errSecSuccess),
                    ("revoked-ocsp", "revoked", .any, errSecCertificateRevoked),
                    ("revoked-ocsp", "revoked-delegated", .ocsp, errSecCertificateRevoked),
                    ("revoked-ocsp", nil, .any, errSecSuccess),
                    ("revoked-ocsp", nil, required, errSecIncompleteCertRevocationCheck),
                    ("revoked-ocsp", nil, [.any, .networkAccessDisabled], errSecSuccess),
                    ("revoked-ocsp", "revoked", [.any, .networkAccessDisabled], errSecCertificateRevoked),
                ]
        for row in rows {
            let evaluator: RevocationTrustEvaluator = .revocationChecking(options: row.options)
            let trust = try Self.trust(row.leaf, stapled: row.stapled)
            let status = Fixture.status { try evaluator.evaluate(trust, forHost: "localhost") }
            #expect(status == row.status, "\(row.leaf) \(row.stapled ?? "-") \(row.options.rawValue)")
        }
    }

    @Test(
        "[I-10.10] the last evaluation has only the revocation policy, which still requires a valid chain"
    )
    func solePolicy() throws {
        let lenient = RevocationTrustEvaluator(performDefaultValidation: false, validateHost: false)
        #expect(
            Fixture.status { try lenient.evaluate(Self.trust("wrong-host", stapled: nil), forHost: "x") } == 0
        )
        #expect(
            Fixture.status { try lenient.evaluate(Self.trust("wrong-usage", stapled: nil), forHost: "x") }
                == 0)
        for leaf in ["expired", "untrusted"] {
            #expect(
                Fixture.status { try lenient.evaluate(Self.trust(leaf, stapled: nil), forHost: "x") } != 0)
        }
        for (byDefault, host) in [(true, false), (false, true), (true, true)] {
            let strict = RevocationTrustEvaluator(performDefaultValidation: byDefault, validateHost: host)
            #expect(
                Fixture.status {
                    try strict.evaluate(Self.trust("wrong-usage", stapled: nil), forHost: "localhost")
                }
                    == errSecInvalidExtendedKeyUsage)
        }
    }

    @Test("empty options fail after the validations")
    func noOptions() throws {
        for options in [[], RevocationTrustEvaluator.Options(rawValue: 32)]
            as [RevocationTrustEvaluator.Options]
        {
            let evaluator = RevocationTrustEvaluator(options: options)
            let verdict = Fixture.verdict(evaluator, try Fixture.trust("good"), "good.test")
            #expect(verdict == "revocationPolicyCreationFailed")
            #expect(
                Fixture.verdict(evaluator, try Fixture.trust("good"), "x.test") == "trustEvaluationFailed")
        }
        let named: RevocationTrustEvaluator = .revocationChecking
        #expect(Fixture.verdict(named, try Fixture.trust("good"), "good.test") == "trusted")
    }
}
