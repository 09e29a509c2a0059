// SPDX-License-Identifier: MIT

internal import Foundation
public import Lupine
public import LupineLoading
public import LupineTLS

/// A certificate authority for tests, created in memory and valid for a day. Nothing is written to disk.
///
/// A client trusts it with `configuration.lupine.tls.roots = authority.roots`, or pins it with `authority.evaluator`.
/// Immutable; can be used on any thread.
public final class TestAuthority: Sendable {
    private let identity: TLSIdentity

    /// The authority's certificate, for the loading system and trust evaluators.
    public let secCertificate: SecCertificate

    /// Creates an authority with its own key and name.
    ///
    /// - Throws: `CertificateError` when OpenSSL cannot create it.
    public init() throws(CertificateError) {
        identity = try EphemeralIdentity.authority()
        pem = Self.pem(identity.certificate)
        guard let certificate = try SecCertificate.certificates(pem: pem).first else {
            throw .missing(.certificate)
        }
        secCertificate = certificate
    }

    /// The authority's certificate, for the transport.
    public var certificate: Certificate { identity.certificate }

    /// The authority's certificate as PEM.
    public let pem: String

    /// Roots for a configuration that contain only this authority.
    public var roots: TrustRoots { .certificates([identity.certificate]) }

    /// An evaluator for a `ServerTrustManager` that trusts only servers of this authority, and checks names and dates.
    public var evaluator: PinnedCertificatesTrustEvaluator {
        // `acceptSelfSignedCertificates` makes the authority's certificate the only anchor.
        PinnedCertificatesTrustEvaluator(certificates: [secCertificate], acceptSelfSignedCertificates: true)
    }

    /// Returns a certificate as PEM.
    private static func pem(_ certificate: Certificate) -> String {
        let lines = Data(certificate.der)
            .base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN CERTIFICATE-----\n\(lines)\n-----END CERTIFICATE-----\n"
    }

    /// Returns a certificate and a key for a server with these names and addresses.
    ///
    /// - Throws: `CertificateError` for an invalid host name.
    func issue(for names: [String]) throws(CertificateError) -> TLSIdentity {
        try EphemeralIdentity.make(names: names, signedBy: identity)
    }
}
