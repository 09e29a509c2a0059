// SPDX-License-Identifier: MIT
// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation
public import LupineTLS

/// One X.509 certificate, equal to another when its DER is.
///
/// Immutable, and any thread's. Whether it is to be trusted is asked of a `SecTrust`.
public final class SecCertificate: Sendable {
    let certificate: Certificate

    init(_ certificate: Certificate) { self.certificate = certificate }

    /// The certificates of a PEM text, in its order.
    ///
    /// - Throws: `CertificateError` when one cannot be read, or when there is none.
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
    /// Whom it is about.
    public var description: String { "<SecCertificate \(certificate.subject)>" }
}

/// The certificate of exactly one certificate in DER; nil for anything else, also for PEM and for what has something behind it.
public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: CFData) -> SecCertificate? {
    (try? Certificate(der: [UInt8](data))).map(SecCertificate.init)
}

/// The DER of the certificate: the bytes that it was made of.
public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData {
    Data(certificate.certificate.der)
}

/// The certificate's key; nil when it is neither RSA, nor of an elliptic curve, nor Ed25519.
public func SecCertificateCopyKey(_ certificate: SecCertificate) -> SecKey? {
    SecKey(of: certificate.certificate)
}

/// Whom the certificate is about, in a few words: its common name, or else its whole subject.
public func SecCertificateCopySubjectSummary(_ certificate: SecCertificate) -> CFString? {
    let subject = certificate.certificate.subject
    return subject.commonName ?? (subject.description.isEmpty ? nil : subject.description)
}
