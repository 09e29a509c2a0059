// SPDX-License-Identifier: MIT

internal import LupineLoading

/// The expected pins and the presented keys of a failed pin check. A program that logs the report shows which pin is missing.
///
/// The report contains names, and digests of public keys, which need not be kept secret. `PublicKeyPinsTrustEvaluator` throws it
/// as its error. For the evaluators of certificates and keys, `AFError.pinningReport` creates it.
public struct PinningReport: Error, Hashable, Sendable {
    /// A certificate or a key of the chain that was built.
    public struct Presented: Hashable, Sendable {
        /// The subject of the certificate; nil if only the key is known.
        public let subject: String?
        /// The pin of the key: `sha256/` and its digest in BASE64; nil for a key of an unsupported type.
        public let pin: String?
    }

    /// The host that was evaluated.
    public let host: String
    /// The pins. The chain had to contain a key that matches one of them.
    public let expected: [String]
    /// The chain: the leaf first, then every issuer that could be linked to it.
    public let presented: [Presented]

    init(host: String, expected: [String], presented: [Presented]) {
        self.host = host
        self.expected = expected
        self.presented = presented
    }

    init(host: String, expected: [String], certificates: [SecCertificate]) {
        self.host = host
        self.expected = expected
        presented = certificates.map {
            Presented(subject: SecCertificateCopySubjectSummary($0), pin: $0.af.publicKey?.pin)
        }
    }

    init(host: String, expected: [String], keys: [SecKey]) {
        self.host = host
        self.expected = expected
        presented = keys.map { Presented(subject: nil, pin: $0.pin) }
    }
}

extension PinningReport: CustomStringConvertible {
    /// One line for the host and one for each certificate. A peer cannot add lines: control characters of the subjects are
    /// escaped.
    public var description: String {
        let lines = presented.map { entry in
            "\n  \(entry.pin ?? "no pin") \(LogRedaction.printable(entry.subject ?? ""))"
        }.joined()
        return
            "None of the keys of \(host) is pinned. Expected: \(expected.joined(separator: ", ")). Presented:\(lines)"
    }
}

extension AFError {
    /// The report of a failed pin check; nil for every other error.
    public var pinningReport: PinningReport? {
        guard case .serverTrustEvaluationFailed(let reason) = self else { return nil }
        switch reason {
        case .certificatePinningFailed(let host, _, let pinned, let presented):
            return PinningReport(
                host: host, expected: pinned.af.publicKeys.map(\.pin), certificates: presented)
        case .publicKeyPinningFailed(let host, _, let pinned, let presented):
            return PinningReport(host: host, expected: pinned.map(\.pin), keys: presented)
        case .customEvaluationFailed(let error): return error as? PinningReport
        case .noRequiredEvaluator, .noCertificatesFound, .noPublicKeysFound, .policyApplicationFailed,
            .settingAnchorCertificatesFailed, .revocationPolicyCreationFailed, .trustEvaluationFailed,
            .defaultEvaluationFailed, .hostValidationFailed, .revocationCheckFailed:
            return nil
        }
    }
}
