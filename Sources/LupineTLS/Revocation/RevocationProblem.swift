// SPDX-License-Identifier: MIT

/// The reason why a revocation answer could not be used.
public enum RevocationProblem: Error, Hashable, Sendable {
    /// The certificate names no source, or none may be queried.
    case noSource
    /// The answer could not be fetched from the URL. The second value is the reason, as text.
    case notFetched(url: String, String)
    /// The answer is neither an OCSP response nor a CRL.
    case malformed
    /// The responder returned an error, such as `tryLater`, by its number (RFC 6960 §4.2.1).
    case responderRefused(status: Int)
    /// The answer is not validly signed by an authorized signer.
    case badSignature
    /// The answer is about other certificates.
    case otherCertificate
    /// The answer has expired or is not yet valid.
    case outdated
    /// The responder does not know the certificate.
    case unknownCertificate
    /// The answer is longer than the limit.
    case tooLarge(limit: Int, bytes: Int)
    /// The list gives no complete answer: an indirect CRL, a delta CRL, one for some reasons only, or one with an unknown
    /// critical extension.
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

    /// The name of an OCSP response status (RFC 6960 §4.2.1).
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
