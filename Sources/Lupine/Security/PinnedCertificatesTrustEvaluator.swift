// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

/// Trusts a server if one of the certificates in its chain is pinned: the leaf or an issuer. If the leaf is pinned, the pin has
/// to be replaced whenever the server gets a new certificate.
///
/// Certificates are compared byte by byte, after the enabled validations have passed. With both validations disabled, the
/// signatures of the chain are verified, but its dates and names are not.
public final class PinnedCertificatesTrustEvaluator: ServerTrustEvaluating {
    private let certificates: [SecCertificate]
    private let acceptSelfSignedCertificates: Bool
    private let performDefaultValidation: Bool
    private let validateHost: Bool

    /// Creates an evaluator of pinned certificates.
    ///
    /// - Parameters:
    ///   - certificates: The pinned certificates; by default those of the DER files of the main bundle, read by this call.
    ///   - acceptSelfSignedCertificates: Whether the pinned certificates replace the anchors of the system or the session, so
    ///     that a pinned self-signed certificate is valid.
    ///   - performDefaultValidation: Whether the chain has to be valid, for any host.
    ///   - validateHost: Whether the chain has to be valid for the host that is evaluated.
    public init(
        certificates: [SecCertificate] = Bundle.main.af.certificates,
        acceptSelfSignedCertificates: Bool = false,
        performDefaultValidation: Bool = true, validateHost: Bool = true
    ) {
        self.certificates = certificates
        self.acceptSelfSignedCertificates = acceptSelfSignedCertificates
        self.performDefaultValidation = performDefaultValidation
        self.validateHost = validateHost
    }

    /// Returns if a certificate of the chain is pinned. Throws `AFError.serverTrustEvaluationFailed` if none is, if a validation
    /// fails, or if there are no pinned certificates.
    public func evaluate(_ trust: SecTrust, forHost host: String) throws {
        guard !certificates.isEmpty else {
            throw AFError.serverTrustEvaluationFailed(reason: .noCertificatesFound)
        }
        if acceptSelfSignedCertificates { try trust.af.setAnchorCertificates(certificates) }
        if performDefaultValidation { try trust.af.performDefaultValidation(forHost: host) }
        if validateHost { try trust.af.performValidation(forHost: host) }
        let presentedCertificates = trust.af.certificates
        let isPinned = !Set(presentedCertificates.af.data).isDisjoint(with: certificates.af.data)
        // `recordPinMatch` records that the trust was checked, even if both validations are disabled.
        if isPinned { return trust.recordPinMatch() }
        throw AFError.serverTrustEvaluationFailed(
            reason: .certificatePinningFailed(
                host: host, trust: trust, pinnedCertificates: certificates,
                serverCertificates: presentedCertificates))
    }
}

extension ServerTrustEvaluating where Self == PinnedCertificatesTrustEvaluator {
    /// Returns an evaluator of the certificates in the main bundle.
    public static var pinnedCertificates: PinnedCertificatesTrustEvaluator {
        PinnedCertificatesTrustEvaluator()
    }

    /// Returns an evaluator of pinned certificates.
    public static func pinnedCertificates(
        certificates: [SecCertificate] = Bundle.main.af.certificates,
        acceptSelfSignedCertificates: Bool = false,
        performDefaultValidation: Bool = true, validateHost: Bool = true
    ) -> PinnedCertificatesTrustEvaluator {
        PinnedCertificatesTrustEvaluator(
            certificates: certificates, acceptSelfSignedCertificates: acceptSelfSignedCertificates,
            performDefaultValidation: performDefaultValidation, validateHost: validateHost)
    }
}
