// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

/// Trusts a server one of whose certificates is among those that the program brings along: the leaf, which then has to be
/// replaced when the server's is, or an issuer.
///
/// Certificates are compared by their bytes, after the validations that are wanted have passed. With both of them left out
/// the chain alone is what counts: signatures are checked, dates and names are not.
public final class PinnedCertificatesTrustEvaluator: ServerTrustEvaluating {
    private let certificates: [SecCertificate]
    private let acceptSelfSignedCertificates: Bool
    private let performDefaultValidation: Bool
    private let validateHost: Bool

    /// An evaluator of these certificates.
    ///
    /// - Parameters:
    ///   - certificates: Those that are pinned; by default the DER files of the main bundle, read here and now.
    ///   - acceptSelfSignedCertificates: Whether the pinned ones are the anchors, the only ones, and no others of the
    ///     system or the session.
    ///   - performDefaultValidation: Whether the chain has to be valid.
    ///   - validateHost: Whether it has to be valid and to name the host.
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

    /// Returns when one of the chain is pinned; throws `AFError.serverTrustEvaluationFailed` when none is, when a validation
    /// fails, and when nothing is pinned.
    public func evaluate(_ trust: SecTrust, forHost host: String) throws {
        guard !certificates.isEmpty else {
            throw AFError.serverTrustEvaluationFailed(reason: .noCertificatesFound)
        }
        if acceptSelfSignedCertificates { try trust.af.setAnchorCertificates(certificates) }
        if performDefaultValidation { try trust.af.performDefaultValidation(forHost: host) }
        if validateHost { try trust.af.performValidation(forHost: host) }
        let presented = trust.af.certificates
        guard Set(presented.af.data).isDisjoint(with: certificates.af.data) else { return trust.notePinned() }
        throw AFError.serverTrustEvaluationFailed(
            reason: .certificatePinningFailed(
                host: host, trust: trust, pinnedCertificates: certificates, serverCertificates: presented))
    }
}

extension ServerTrustEvaluating where Self == PinnedCertificatesTrustEvaluator {
    /// An evaluator of the certificates in the main bundle.
    public static var pinnedCertificates: PinnedCertificatesTrustEvaluator {
        PinnedCertificatesTrustEvaluator()
    }

    /// An evaluator of pinned certificates.
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
