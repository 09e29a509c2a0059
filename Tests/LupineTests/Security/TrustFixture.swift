// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineTestKit
import Testing

@testable import Lupine

/// The chains that the evaluators' tests use, and a time at which all certificates are valid that are meant to be.
enum TrustFixture {
    /// 2026-11-21.
    static let now = Date(timeIntervalSince1970: 1_795_219_200)

    /// Returns the certificates of a PEM file.
    static func certificates(_ file: String) throws -> [SecCertificate] {
        try SecCertificate.certificates(pem: PKI.text("\(file).pem"))
    }

    /// Returns the first certificate of a PEM file.
    static func certificate(_ name: String) throws -> SecCertificate {
        try #require(try certificates(name).first)
    }

    /// Returns the key of the first certificate of a PEM file.
    static func key(_ name: String) throws -> SecKey {
        try #require(SecCertificateCopyKey(try certificate(name)))
    }

    /// Returns the trust for the chain that a server with this leaf presents, with the fixtures' root as its anchor.
    static func trust(
        _ leaf: String, presented: [String]? = nil, roots: [String] = ["root"]
    ) throws -> SecTrust {
        var made: SecTrust?
        let chain = try presented.map { try $0.map(certificate) } ?? certificates("\(leaf)-chain")
        #expect(SecTrustCreateWithCertificates(chain, SecPolicyCreateBasicX509(), &made) == errSecSuccess)
        let trust = try #require(made)
        #expect(SecTrustSetAnchorCertificates(trust, try roots.map(certificate)) == errSecSuccess)
        #expect(SecTrustSetVerifyDate(trust, now) == errSecSuccess)
        return trust
    }

    /// Returns the result of an evaluation: `trusted`, or the name of the reason.
    static func verdict(_ evaluator: any ServerTrustEvaluating, _ trust: SecTrust, _ host: String) -> String {
        do {
            try evaluator.evaluate(trust, forHost: host)
            return "trusted"
        } catch {
            return name(of: error)
        }
    }

    /// Returns the name of the reason in an error.
    static func name(of error: any Error) -> String {
        guard let error = error as? AFError else { return "\(type(of: error))" }
        guard case .serverTrustEvaluationFailed(let reason) = error else { return "\(error)" }
        return switch reason {
        case .noRequiredEvaluator: "noRequiredEvaluator"
        case .noCertificatesFound: "noCertificatesFound"
        case .noPublicKeysFound: "noPublicKeysFound"
        case .policyApplicationFailed: "policyApplicationFailed"
        case .settingAnchorCertificatesFailed: "settingAnchorCertificatesFailed"
        case .revocationPolicyCreationFailed: "revocationPolicyCreationFailed"
        case .trustEvaluationFailed: "trustEvaluationFailed"
        case .defaultEvaluationFailed: "defaultEvaluationFailed"
        case .hostValidationFailed: "hostValidationFailed"
        case .revocationCheckFailed: "revocationCheckFailed"
        case .certificatePinningFailed: "certificatePinningFailed"
        case .publicKeyPinningFailed: "publicKeyPinningFailed"
        case .customEvaluationFailed: "customEvaluationFailed"
        }
    }

    /// Returns the status that an evaluation failed with.
    static func status(of body: () throws -> Void) -> OSStatus {
        do {
            try body()
            return errSecSuccess
        } catch {
            let inner = (error as? AFError)?.underlyingError.map { $0 as NSError }
            return inner.map { OSStatus($0.code) } ?? errSecParam
        }
    }
}
