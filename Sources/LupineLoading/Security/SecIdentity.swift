// SPDX-License-Identifier: MIT
// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import LupineTLS

/// Who a client is: a certificate and the private key that proves it.
///
/// Immutable, and any thread's. It is made of PEM, or by `SecPKCS12Import`. Nothing of the key is ever described.
public final class SecIdentity: Sendable {
    let identity: TLSIdentity

    init(_ identity: TLSIdentity) { self.identity = identity }

    /// An identity of a PEM text with its certificate first and then that one's issuers, and of one with the key; both may
    /// be the same.
    ///
    /// - Parameters:
    ///   - pemChain: The certificates.
    ///   - pemKey: The key.
    ///   - password: Opens the key, if it is encrypted.
    /// - Throws: `CertificateError` when something is missing, cannot be read, or does not belong together.
    public convenience init(
        pemChain: String, pemKey: String, password: String? = nil
    ) throws(CertificateError) {
        self.init(try TLSIdentity(pemChain: pemChain, pemKey: pemKey, password: password))
    }

    /// What is presented to a server: with issuers to send along, those instead of its own.
    func presented(with certificates: [SecCertificate]) -> TLSIdentity {
        let issuers = certificates.map(\.certificate).filter { $0 != identity.certificate }
        guard !issuers.isEmpty else { return identity }
        let own = identity
        return
            (try? TLSIdentity(
                certificate: own.certificate, intermediates: issuers, privateKey: own.privateKey)) ?? own
    }
}

extension SecIdentity: Hashable {
    public static func == (left: SecIdentity, right: SecIdentity) -> Bool { left.identity == right.identity }
    public func hash(into hasher: inout Hasher) { hasher.combine(identity) }
}

extension SecIdentity: CustomStringConvertible {
    /// Whom the certificate is about.
    public var description: String { "<SecIdentity \(identity.certificate.subject)>" }
}

/// Gives the certificate of an identity.
///
/// - Returns: `errSecSuccess`.
@safe public func SecIdentityCopyCertificate(
    _ identity: SecIdentity, _ certificate: UnsafeMutablePointer<SecCertificate?>
) -> OSStatus {
    unsafe certificate.pointee = SecCertificate(identity.identity.certificate)
    return errSecSuccess
}
