// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// The alert that tells a peer why its chain is refused (RFC 8446 §6.2).
extension TrustFailure {
    /// The alert that matches the failure best.
    package var alert: TLSAlert {
        switch self {
        case .expired, .notYetValid: .certificateExpired
        case .issuerMissing, .rootsUnusable, .untrustedRoot, .selfSigned: .unknownCA
        case .revoked: .certificateRevoked
        case .wrongUsage, .weakKey, .weakSignature: .unsupportedCertificate
        case .noCertificate, .hostMismatch, .badSignature, .notAnAuthority, .pathTooLong, .nameNotPermitted,
            .unknownCriticalExtension, .certificateNotPinned, .keyNotPinned:
            .badCertificate
        case .revocationUnknown, .stapleMissing, .noPins, .refused, .invalidChain: .certificateUnknown
        }
    }

    /// A verification error (`X509_V_ERR_`) for which OpenSSL sends this alert.
    var verifyError: Int32 {
        switch alert {
        case .certificateExpired: X509_V_ERR_CERT_HAS_EXPIRED
        case .unknownCA: X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY
        case .certificateRevoked: X509_V_ERR_CERT_REVOKED
        case .unsupportedCertificate: X509_V_ERR_INVALID_PURPOSE
        case .badCertificate: X509_V_ERR_CERT_REJECTED
        // OpenSSL's table of alerts has no entry for this error, so that OpenSSL sends certificate_unknown.
        default: X509_V_ERR_SUBTREE_MINMAX
        }
    }
}
