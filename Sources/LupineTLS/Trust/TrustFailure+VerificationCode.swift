// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// OpenSSL's number for a failure, for logs and for errors of other systems.
extension TrustFailure {
    /// The closest `X509_V_ERR_` number.
    package var verificationCode: Int {
        switch self {
        case .noCertificate: Int(X509_V_ERR_INVALID_CALL)
        case .hostMismatch: Int(X509_V_ERR_HOSTNAME_MISMATCH)
        case .expired: Int(X509_V_ERR_CERT_HAS_EXPIRED)
        case .notYetValid: Int(X509_V_ERR_CERT_NOT_YET_VALID)
        case .issuerMissing, .rootsUnusable: Int(X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY)
        case .untrustedRoot: Int(X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN)
        case .selfSigned: Int(X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT)
        case .badSignature: Int(X509_V_ERR_CERT_SIGNATURE_FAILURE)
        case .notAnAuthority: Int(X509_V_ERR_INVALID_CA)
        case .pathTooLong: Int(X509_V_ERR_PATH_LENGTH_EXCEEDED)
        case .nameNotPermitted: Int(X509_V_ERR_PERMITTED_VIOLATION)
        case .wrongUsage: Int(X509_V_ERR_INVALID_PURPOSE)
        case .weakKey: Int(X509_V_ERR_EE_KEY_TOO_SMALL)
        case .weakSignature: Int(X509_V_ERR_CA_MD_TOO_WEAK)
        case .unknownCriticalExtension: Int(X509_V_ERR_UNHANDLED_CRITICAL_EXTENSION)
        case .revoked: Int(X509_V_ERR_CERT_REVOKED)
        case .revocationUnknown, .stapleMissing: Int(X509_V_ERR_OCSP_VERIFY_NEEDED)
        case .certificateNotPinned, .keyNotPinned, .noPins, .refused: Int(X509_V_ERR_APPLICATION_VERIFICATION)
        case .invalidChain(_, let code, _): code
        }
    }
}
