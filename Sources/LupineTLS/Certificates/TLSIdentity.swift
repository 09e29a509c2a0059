// SPDX-License-Identifier: MIT

/// The identity of one side of a connection: a certificate, its chain towards the root, and the private key.
public struct TLSIdentity: Sendable, Hashable {
    /// The end-entity certificate.
    public let certificate: Certificate
    /// The certificates sent with it, in chain order; usually without the root.
    public let intermediates: [Certificate]
    /// The private key of `certificate`.
    public let privateKey: PrivateKey

    /// Creates an identity from its parts.
    ///
    /// - Throws: `CertificateError.keyMismatch` when the key does not belong to the certificate.
    public init(
        certificate: Certificate, intermediates: [Certificate] = [], privateKey: PrivateKey
    ) throws(CertificateError) {
        guard certificate.handle.matches(privateKey.handle) else {
            throw .keyMismatch(subject: certificate.subject.description)
        }
        self.certificate = certificate
        self.intermediates = intermediates
        self.privateKey = privateKey
    }

    /// Creates an identity from a PEM text with its certificate followed by those of the issuers, and a PEM text with the key,
    /// which may be the same text.
    public init(
        pemChain: [UInt8], pemKey: [UInt8], password: String? = nil
    ) throws(CertificateError) {
        let chain = try Certificate.pem(pemChain)
        guard let certificate = chain.first else { throw .missing(.certificate) }
        let key = try PrivateKey(pem: pemKey, password: password)
        try self.init(certificate: certificate, intermediates: Array(chain.dropFirst()), privateKey: key)
    }

    /// Creates an identity from PEM strings, like the initializer for bytes.
    public init(pemChain: String, pemKey: String, password: String? = nil) throws(CertificateError) {
        try self.init(pemChain: Array(pemChain.utf8), pemKey: Array(pemKey.utf8), password: password)
    }

    /// Creates an identity from a PKCS#12 file (RFC 7292): its first key, the certificate of that key, and the chain towards the
    /// root, sorted in chain order. A root is left out.
    ///
    /// - Throws: `CertificateError`: `wrongPassword`, `tooCostly`, `unsupported` for ciphers that OpenSSL has retired, `missing`
    ///   without a key or a certificate, `keyMismatch` when no certificate matches the key.
    public init(pkcs12: [UInt8], password: String? = nil) throws(CertificateError) {
        let contents = try PKCS12Contents(pkcs12, password: password)
        guard let key = contents.keys.first else { throw .missing(.privateKey) }
        guard let first = contents.certificates.first else { throw .missing(.certificate) }
        // If no certificate matches the key, the initializer below throws `keyMismatch` for the first certificate.
        let leaf = contents.certificates.first { $0.handle.matches(key.handle) } ?? first
        try self.init(
            certificate: leaf, intermediates: TLSIdentity.issuers(of: leaf, in: contents.certificates),
            privateKey: key)
    }

    /// Returns the issuers of `leaf` among `certificates`, in chain order: its issuer, then the issuer's issuer, and so on.
    /// Leaves out certificates whose subject is their own issuer, such as a root.
    static func issuers(of leaf: Certificate, in certificates: [Certificate]) -> [Certificate] {
        var chain = [leaf]
        while let last = chain.last, last.subject != last.issuer,
            let issuer = certificates.first(where: { candidate in
                candidate.subject != candidate.issuer && last.handle.couldBeIssued(by: candidate.handle)
                    && !chain.contains(candidate)
            })
        {
            chain.append(issuer)
        }
        return Array(chain.dropFirst())
    }
}
