// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTLS

/// Why a chain is not trusted, in the words of Apple's API (I-12.9, I-12.10).
extension TrustFailure {
    /// The code of the error.
    var status: OSStatus {
        switch self {
        case .revoked: errSecCertificateRevoked
        case .noCertificate, .issuerMissing, .rootsUnusable: errSecCreateChainFailed
        case .untrustedRoot, .selfSigned, .certificateNotPinned, .keyNotPinned, .noPins, .refused:
            errSecNotTrusted
        case .badSignature, .nameNotPermitted, .weakKey, .weakSignature, .unknownCriticalExtension,
            .invalidChain:
            errSecInvalidRoot
        case .notAnAuthority, .pathTooLong: errSecNoBasicConstraintsCA
        case .wrongUsage: errSecInvalidExtendedKeyUsage
        case .expired: errSecCertificateExpired
        case .notYetValid: errSecCertificateNotValidYet
        case .hostMismatch: errSecHostNameMismatch
        case .revocationUnknown, .stapleMissing: errSecIncompleteCertRevocationCheck
        }
    }

    /// What the older functions say: whether another anchor, date or name could help.
    var resultType: SecTrustResultType {
        switch self {
        case .expired, .notYetValid, .issuerMissing, .rootsUnusable, .untrustedRoot, .selfSigned,
            .hostMismatch,
            .wrongUsage, .revocationUnknown, .stapleMissing, .certificateNotPinned, .keyNotPinned, .noPins,
            .refused:
            .recoverableTrustFailure
        case .noCertificate, .revoked, .badSignature, .notAnAuthority, .pathTooLong, .nameNotPermitted,
            .weakKey, .weakSignature, .unknownCriticalExtension, .invalidChain:
            .fatalTrustFailure
        }
    }

    /// The error for a peer with this subject. Underneath is the number that OpenSSL has for the problem.
    func securityError(subject: String) -> NSError {
        let reason = description
        // Most reasons name the certificate that they are about; the others are about the leaf.
        let text =
            reason.contains(subject) || reason.contains("the certificate of")
            ? reason : "\(subject): \(reason)"
        let underlying = NSError(
            domain: TrustFailure.verificationDomain, code: verificationCode,
            userInfo: [NSLocalizedDescriptionKey: reason])
        return NSError(
            domain: NSOSStatusErrorDomain, code: Int(status),
            userInfo: [NSLocalizedDescriptionKey: text, NSUnderlyingErrorKey: underlying])
    }

    /// The domain of errors whose code is one of OpenSSL's `X509_V_ERR_` numbers.
    static let verificationDomain = "OpenSSLCertificateVerification"
}

extension SecTrust.Verdict {
    /// Why the peer is not trusted; nil when it is.
    var error: NSError? { failure?.securityError(subject: subject) }
}
