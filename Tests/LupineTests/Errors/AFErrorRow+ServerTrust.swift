// SPDX-License-Identifier: MIT

import Foundation
import LupineTestKit
import Testing

@testable import Lupine

extension AFErrorRow {
    /// The values that the reasons about trust contain.
    private struct Evidence {
        let trust: SecTrust
        let certificates: [SecCertificate]
        let key: SecKey
        let policy = SecPolicyCreateBasicX509()

        init() throws {
            let data = Data(try PKI.bytes("good.der"))
            let certificate = try #require(SecCertificateCreateWithData(nil, data as CFData))
            var made: SecTrust?
            #expect(SecTrustCreateWithCertificates(certificate, policy, &made) == errSecSuccess)
            trust = try #require(made)
            certificates = [certificate]
            key = try #require(SecCertificateCopyKey(certificate))
        }

        var output: AFError.ServerTrustFailureReason.Output {
            .init("host.test", trust, errSecNotTrusted, .recoverableTrustFailure)
        }
    }

    private static func untrusted(
        _ name: String, _ reason: AFError.ServerTrustFailureReason, _ descriptionParts: [String],
        underlying: InnerError? = nil
    ) -> AFErrorRow {
        AFErrorRow(
            name: "ServerTrustFailureReason.\(name)", error: .serverTrustEvaluationFailed(reason: reason),
            trueProperty: "isServerTrustEvaluationError",
            descriptionParts: ["not trusted"] + descriptionParts, underlying: underlying)
    }

    /// All reasons about trust.
    static func trust() throws -> [AFErrorRow] {
        let evidence = try Evidence()
        let (trust, certificates) = (evidence.trust, evidence.certificates)
        let output = ["host.test", "\(errSecNotTrusted)", "recoverableTrustFailure"]
        return [
            untrusted("noRequiredEvaluator(host:)", .noRequiredEvaluator(host: "host.test"), ["host.test"]),
            untrusted("noCertificatesFound", .noCertificatesFound, ["no certificates"]),
            untrusted("noPublicKeysFound", .noPublicKeysFound, ["no public keys"]),
            untrusted(
                "policyApplicationFailed(trust:policy:status:)",
                .policyApplicationFailed(trust: trust, policy: evidence.policy, status: errSecParam),
                ["policy", "-50"]),
            untrusted(
                "settingAnchorCertificatesFailed(status:certificates:)",
                .settingAnchorCertificatesFailed(status: errSecParam, certificates: certificates),
                ["anchors", "-50"]),
            untrusted(
                "revocationPolicyCreationFailed", .revocationPolicyCreationFailed, ["policy for revocation"]),
            untrusted(
                "trustEvaluationFailed(error:)", .trustEvaluationFailed(error: inner), ["inner told"],
                underlying: inner),
            untrusted(
                "trustEvaluationFailed(error:) without one", .trustEvaluationFailed(error: nil),
                ["no description"]),
            untrusted(
                "defaultEvaluationFailed(output:)", .defaultEvaluationFailed(output: evidence.output),
                ["default evaluation"] + output),
            untrusted(
                "hostValidationFailed(output:)", .hostValidationFailed(output: evidence.output),
                ["not accepted for the host"] + output),
            untrusted(
                "revocationCheckFailed(output:options:)",
                .revocationCheckFailed(output: evidence.output, options: []), ["revocation check"] + output),
            untrusted(
                "certificatePinningFailed(host:trust:pinnedCertificates:serverCertificates:)",
                .certificatePinningFailed(
                    host: "host.test", trust: trust, pinnedCertificates: [],
                    serverCertificates: certificates),
                ["host.test", "certificates", "pinned"]),
            untrusted(
                "publicKeyPinningFailed(host:trust:pinnedKeys:serverKeys:)",
                .publicKeyPinningFailed(
                    host: "host.test", trust: trust, pinnedKeys: [], serverKeys: [evidence.key]),
                ["host.test", "public keys", "pinned"]),
            untrusted(
                "customEvaluationFailed(error:)", .customEvaluationFailed(error: inner),
                ["custom", "inner told"], underlying: inner),
        ]
    }
}
