// SPDX-License-Identifier: MIT
// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation
public import LupineTLS

/// An X.509 certificate. Certificates with the same DER encoding are equal.
///
/// Immutable; may be used on any thread. A `SecTrust` evaluates whether a certificate is trusted.
public final class SecCertificate: Sendable {
    let certificate: Certificate

    init(_ certificate: Certificate) { self.certificate = certificate }

    /// Returns the certificates in a PEM text, in order.
    ///
    /// - Throws: `CertificateError` when a certificate cannot be read, or when there is none.
    public static func certificates(pem text: String) throws(CertificateError) -> [SecCertificate] {
        try Certificate.pem(text).map(SecCertificate.init)
    }
}

extension SecCertificate: Hashable {
    public static func == (left: SecCertificate, right: SecCertificate) -> Bool {
        left.certificate == right.certificate
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(certificate) }
}

extension SecCertificate: CustomStringConvertible {
    /// Contains the certificate's subject.
    public var description: String { "<SecCertificate \(certificate.subject)>" }
}

/// Creates a certificate from its DER encoding. Returns nil unless the data is exactly one certificate, without trailing bytes.
public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: CFData) -> SecCertificate? {
    (try? Certificate(der: [UInt8](data))).map(SecCertificate.init)
}

/// Returns the DER encoding of the certificate.
public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData {
    Data(certificate.certificate.der)
}

/// Returns the certificate's key, if it is an RSA, elliptic curve or Ed25519 key; otherwise nil.
public func SecCertificateCopyKey(_ certificate: SecCertificate) -> SecKey? {
    SecKey(of: certificate.certificate)
}

/// Returns a short description of the certificate: the common name of its subject, otherwise the whole subject.
public func SecCertificateCopySubjectSummary(_ certificate: SecCertificate) -> CFString? {
    let subject = certificate.certificate.subject
    return subject.commonName ?? (subject.description.isEmpty ? nil : subject.description)
}
