// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTLS

/// Maps a trust failure to Apple's API (I-12.9, I-12.10).
extension TrustFailure {
    /// The code of the `NSError`, one of the `errSec` constants.
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

    /// The result type, which tells whether the trust could pass with another anchor, date or name.
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

    /// Returns the error for a leaf certificate with this subject. The code of the underlying error is OpenSSL's number for the
    /// failure.
    func securityError(subject: String) -> NSError {
        let reason = description
        // Most descriptions contain the subject of a certificate. All other descriptions are about the leaf, so they get its
        // subject in front.
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
    /// The error for an untrusted peer; nil for a trusted one.
    var error: NSError? { failure?.securityError(subject: subject) }
}
