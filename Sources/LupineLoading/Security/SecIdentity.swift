// SPDX-License-Identifier: MIT
// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import LupineTLS

/// A client's identity: a certificate and its private key.
///
/// Immutable; may be used on any thread. Created from PEM, or by `SecPKCS12Import`. Its `description` never contains the key.
public final class SecIdentity: Sendable {
    let identity: TLSIdentity

    init(_ identity: TLSIdentity) { self.identity = identity }

    /// Creates an identity from a PEM text with its certificate and then those of issuers, and a PEM text with its private key.
    /// One text may have the certificates and the key, and be passed twice.
    ///
    /// - Parameters:
    ///   - pemChain: The identity's certificate, followed by those of issuers.
    ///   - pemKey: The private key.
    ///   - password: The password of an encrypted key.
    /// - Throws: `CertificateError` when the certificate or the key is missing or cannot be read, or when they do not match.
    public convenience init(
        pemChain: String, pemKey: String, password: String? = nil
    ) throws(CertificateError) {
        self.init(try TLSIdentity(pemChain: pemChain, pemKey: pemKey, password: password))
    }

    /// Returns the identity with these issuers' certificates in place of the ones that it has. Returns the identity unchanged if
    /// the array contains no issuer, or if the certificates cannot be used.
    func replacingIssuers(with certificates: [SecCertificate]) -> TLSIdentity {
        // The array may begin with the identity's own certificate.
        let issuers = certificates.map(\.certificate).filter { $0 != identity.certificate }
        guard !issuers.isEmpty else { return identity }
        let changed = try? TLSIdentity(
            certificate: identity.certificate, intermediates: issuers, privateKey: identity.privateKey)
        return changed ?? identity
    }
}

extension SecIdentity: Hashable {
    public static func == (left: SecIdentity, right: SecIdentity) -> Bool { left.identity == right.identity }
    public func hash(into hasher: inout Hasher) { hasher.combine(identity) }
}

extension SecIdentity: CustomStringConvertible {
    /// Contains the certificate's subject.
    public var description: String { "<SecIdentity \(identity.certificate.subject)>" }
}

/// Copies the certificate of an identity.
///
/// - Returns: `errSecSuccess`.
@safe public func SecIdentityCopyCertificate(
    _ identity: SecIdentity, _ certificate: UnsafeMutablePointer<SecCertificate?>
) -> OSStatus {
    unsafe certificate.pointee = SecCertificate(identity.identity.certificate)
    return errSecSuccess
}
