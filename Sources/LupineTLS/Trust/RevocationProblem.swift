// SPDX-License-Identifier: MIT

/// Why an answer about revocation was of no use.
public enum RevocationProblem: Error, Hashable, Sendable {
    /// The certificate names nobody to ask, or nobody was to be asked.
    case noSource
    /// The answer could not be fetched.
    case notFetched(url: String, String)
    /// The answer is no OCSP response or no CRL.
    case malformed
    /// The responder refused to answer, such as `tryLater`, by its number (RFC 6960 §4.2.1).
    case responderRefused(status: Int)
    /// The answer is signed by somebody who may not answer.
    case badSignature
    /// The answer is about other certificates.
    case otherCertificate
    /// The answer is not yet, or no longer, valid.
    case outdated
    /// The responder does not know the certificate.
    case unknownCertificate
    /// The answer is longer than what is read.
    case tooLarge(limit: Int, bytes: Int)
    /// A list that gives no complete answer: an indirect one, a difference, one for some reasons alone, or one with a
    /// critical extension that nobody here understands.
    case unsupported
}

extension RevocationProblem: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noSource: "there is nobody to ask"
        case .notFetched(let url, let reason): "no answer from \(url.prefix { $0 != "?" }): \(reason)"
        case .malformed: "the answer is malformed"
        case .responderRefused(let status):
            "the responder refused to answer (\(RevocationProblem.name(of: status)))"
        case .badSignature: "the answer is not signed by anybody who may answer"
        case .otherCertificate: "the answer is about other certificates"
        case .outdated: "the answer is not of this time"
        case .unknownCertificate: "the responder does not know the certificate"
        case .tooLarge(let limit, let bytes): "the answer has \(bytes) bytes, over the limit of \(limit)"
        case .unsupported: "the revocation list gives no complete answer"
        }
    }

    /// RFC 6960 §4.2.1.
    private static func name(of status: Int) -> String {
        switch status {
        case 1: "malformedRequest"
        case 2: "internalError"
        case 3: "tryLater"
        case 5: "sigRequired"
        case 6: "unauthorized"
        default: "status \(status)"
        }
    }
}
