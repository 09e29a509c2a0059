// SPDX-License-Identifier: MIT

internal import LupineLoading

/// What was expected and what was presented when no pin matched: for logs, and to find the pin that is missing.
///
/// A value. It holds names and digests of public keys, nothing that would have to be kept secret. It is the error of
/// `PublicKeyPinsTrustEvaluator`; for the evaluators of certificates and keys `AFError.pinningReport` makes it.
public struct PinningReport: Error, Hashable, Sendable {
    /// One certificate, or one key, of the chain that was built.
    public struct Presented: Hashable, Sendable {
        /// Whom the certificate is about; nil where only the key is known.
        public let subject: String?
        /// The pin of its key; nil for a key of a kind that is not handed out.
        public let pin: String?
    }

    /// The host that was to be proved.
    public let host: String
    /// The pins one of which was expected.
    public let expected: [String]
    /// What the chain had: the leaf first, then every issuer that could be linked to it.
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
    /// One line for the host, and one for each certificate, whatever a peer has put into its names.
    public var description: String {
        let found = presented.map { one in
            "\n  \(one.pin ?? "no pin") \(LogRedaction.printable(one.subject ?? ""))"
        }.joined()
        return
            "None of the keys of \(host) is pinned. Expected: \(expected.joined(separator: ", ")). Presented:\(found)"
    }
}

extension AFError {
    /// What was presented, when it failed because no pin matched; nil for every other error.
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
