// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineTestKit
import Testing

@testable import Lupine

/// What the tests of evaluators judge: the fixtures' chains, at a moment when whatever is valid is valid.
enum TrustFixture {
    /// 2026-11-21.
    static let now = Date(timeIntervalSince1970: 1_795_219_200)

    /// The certificates of a PEM file.
    static func certificates(_ file: String) throws -> [SecCertificate] {
        try SecCertificate.certificates(pem: PKI.text("\(file).pem"))
    }

    /// The first one of a PEM file.
    static func certificate(_ name: String) throws -> SecCertificate {
        try #require(try certificates(name).first)
    }

    /// The key of the first one of a PEM file.
    static func key(_ name: String) throws -> SecKey {
        try #require(SecCertificateCopyKey(try certificate(name)))
    }

    /// What a server with this leaf presents, to one who trusts the fixtures' root.
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

    /// How a judgement ends: `trusted`, or the name of the reason.
    static func verdict(_ evaluator: any ServerTrustEvaluating, _ trust: SecTrust, _ host: String) -> String {
        do {
            try evaluator.evaluate(trust, forHost: host)
            return "trusted"
        } catch {
            return name(of: error)
        }
    }

    /// The name of the reason that an error carries.
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

    /// The status that an evaluation failed with.
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
