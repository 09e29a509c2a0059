// SPDX-License-Identifier: MIT

internal import Foundation
public import Lupine
public import LupineLoading
public import LupineTLS

/// A certificate authority that is made in memory, for a day and for tests alone: nothing of it is written to a disk.
///
/// A client trusts it by one line of its configuration, `configuration.lupine.tls.roots = authority.roots`, or pins it by
/// `authority.evaluator`. Immutable, and any thread's.
public final class TestAuthority: Sendable {
    private let identity: TLSIdentity

    /// The authority's certificate, as the loading system and trust evaluators take it.
    public let secCertificate: SecCertificate

    /// A new authority, with a key and a name of its own.
    ///
    /// - Throws: `CertificateError` when OpenSSL cannot make one.
    public init() throws(CertificateError) {
        identity = try ThrowawayIdentity.authority()
        pem = Self.pem(identity.certificate)
        guard let certificate = try SecCertificate.certificates(pem: pem).first else {
            throw .missing(.certificate)
        }
        secCertificate = certificate
    }

    /// The authority's certificate, as the transport takes it.
    public var certificate: Certificate { identity.certificate }

    /// The authority's certificate as PEM.
    public let pem: String

    /// Roots of a configuration that are this authority and no other.
    public var roots: TrustRoots { .certificates([identity.certificate]) }

    /// An evaluator for a `ServerTrustManager` that trusts servers of this authority alone, and checks their names and dates.
    public var evaluator: PinnedCertificatesTrustEvaluator {
        PinnedCertificatesTrustEvaluator(certificates: [secCertificate], acceptSelfSignedCertificates: true)
    }

    private static func pem(_ certificate: Certificate) -> String {
        let lines = Data(certificate.der)
            .base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN CERTIFICATE-----\n\(lines)\n-----END CERTIFICATE-----\n"
    }

    /// A certificate and key for a server of these names and addresses.
    ///
    /// - Throws: `CertificateError` for what is no name of a host.
    func issue(for names: [String]) throws(CertificateError) -> TLSIdentity {
        try ThrowawayIdentity.make(names: names, signedBy: identity)
    }
}
