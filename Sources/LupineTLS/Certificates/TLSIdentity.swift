// SPDX-License-Identifier: MIT

/// Who one side of a connection is: a certificate, those that lead to its root, and the key that proves it.
public struct TLSIdentity: Sendable {
    /// The own certificate.
    public let certificate: Certificate
    /// What is sent with it, in the order of the chain; the root is mostly left out.
    public let intermediates: [Certificate]
    /// The key of `certificate`.
    public let privateKey: PrivateKey

    /// An identity of parts that are known to belong together.
    init(certificate: Certificate, intermediates: [Certificate], privateKey: PrivateKey) {
        self.certificate = certificate
        self.intermediates = intermediates
        self.privateKey = privateKey
    }
}
