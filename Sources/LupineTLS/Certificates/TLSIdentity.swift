// SPDX-License-Identifier: MIT

/// Who one side of a connection is: a certificate, those that lead to its root, and the key that proves it.
public struct TLSIdentity: Sendable, Hashable {
    /// The own certificate.
    public let certificate: Certificate
    /// What is sent with it, in the order of the chain; the root is mostly left out.
    public let intermediates: [Certificate]
    /// The key of `certificate`.
    public let privateKey: PrivateKey

    /// An identity of its parts.
    ///
    /// - Throws: `CertificateError.keyMismatch` when the key is not that of the certificate.
    public init(
        certificate: Certificate, intermediates: [Certificate] = [], privateKey: PrivateKey
    ) throws(CertificateError) {
        guard certificate.handle.fits(privateKey.handle) else {
            throw .keyMismatch(subject: certificate.subject.description)
        }
        self.certificate = certificate
        self.intermediates = intermediates
        self.privateKey = privateKey
    }

    /// An identity of a PEM text with the own certificate first and then its issuers, and another with the key; both
    /// may be the same.
    public init(
        pemChain: [UInt8], pemKey: [UInt8], password: String? = nil
    ) throws(CertificateError) {
        let chain = try Certificate.pem(pemChain)
        guard let certificate = chain.first else { throw .missing(.certificate) }
        let key = try PrivateKey(pem: pemKey, password: password)
        try self.init(certificate: certificate, intermediates: Array(chain.dropFirst()), privateKey: key)
    }

    /// The same of strings.
    public init(pemChain: String, pemKey: String, password: String? = nil) throws(CertificateError) {
        try self.init(pemChain: Array(pemChain.utf8), pemKey: Array(pemKey.utf8), password: password)
    }

    /// The identity in a PKCS#12 file (RFC 7292): its first key, the certificate of that key, and what leads from there
    /// to a root, in that order whatever order the file has. A root is left out.
    ///
    /// - Throws: `CertificateError`: `wrongPassword`, `tooCostly`, `unsupported` for ciphers that OpenSSL has retired,
    ///   `missing` when there is no key or no certificate, `keyMismatch` when no certificate fits the key.
    public init(pkcs12: [UInt8], password: String? = nil) throws(CertificateError) {
        let contents = try PKCS12Contents(pkcs12, password: password)
        guard let key = contents.keys.first else { throw .missing(.privateKey) }
        guard let other = contents.certificates.first else { throw .missing(.certificate) }
        let own = contents.certificates.first { $0.handle.fits(key.handle) } ?? other
        try self.init(
            certificate: own, intermediates: TLSIdentity.issuers(of: own, in: contents.certificates),
            privateKey: key)
    }

    /// Those of `certificates` that lead from `leaf` towards its root, without one that is its own issuer.
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
