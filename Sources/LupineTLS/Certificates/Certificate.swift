// SPDX-License-Identifier: MIT

/// An X.509 certificate (RFC 5280): a value that can be compared, stored and passed between threads.
///
/// Two certificates are equal when their DER is. Parsing checks only the syntax: trust is evaluated by `PeerTrust`. The
/// properties are read from OpenSSL's object at each access; store a value that is needed often.
public struct Certificate: Sendable {
    /// The certificate as an object of OpenSSL.
    package let handle: OpenSSLHandle<X509Object>

    /// The largest DER that is accepted; servers' certificates have a few KiB, those with a thousand names 20 KiB.
    public static let largestSize = 1 << 20

    /// Creates a value for a certificate that OpenSSL has already parsed, without further checks.
    package init(_ handle: OpenSSLHandle<X509Object>) { self.handle = handle }

    /// Parses exactly one certificate in DER.
    ///
    /// - Throws: `CertificateError` when the input is too large, truncated, followed by other bytes, BER but not DER, or when its
    ///   validity or its alternative names are malformed.
    public init(der: [UInt8]) throws(CertificateError) {
        try self.init(der: der, trustSettings: false)
    }

    /// Parses exactly one certificate in DER. With `trustSettings`, the data that OpenSSL appends in a PEM block TRUSTED
    /// CERTIFICATE may follow.
    init(der: [UInt8], trustSettings: Bool) throws(CertificateError) {
        guard der.count <= Certificate.largestSize else {
            throw .tooLarge(.certificate, count: der.count, limit: Certificate.largestSize)
        }
        handle = try OpenSSLHandle.certificate(der: der, trustSettings: trustSettings)
        // OpenSSL also accepts some BER that is not DER. Such input differs from OpenSSL's own encoding of the certificate.
        let encoding = handle.der
        let isDER = trustSettings ? der.starts(with: encoding) : der == encoding
        guard isDER else {
            throw .malformed(.certificate, reason: "not the DER of what it says")
        }
        guard handle.notBefore != nil else { throw .malformed(.certificate, reason: "notBefore is no time") }
        guard handle.notAfter != nil else { throw .malformed(.certificate, reason: "notAfter is no time") }
        guard handle.subjectAlternativeNames != nil else {
            throw .malformed(.certificate, reason: "the subject alternative names cannot be read")
        }
    }

    /// The certificate in DER.
    public var der: [UInt8] { handle.der }

    /// The subject.
    public var subject: DistinguishedName { handle.subject }

    /// The issuer.
    public var issuer: DistinguishedName { handle.issuer }

    /// The serial number.
    public var serialNumber: SerialNumber { SerialNumber(bytes: DERReader.content(of: handle.serialNumber)) }

    /// The first second of the validity. If the time is malformed, which is possible in a peer's certificate, the certificate
    /// never becomes valid.
    public var notBefore: UnixTime { handle.notBefore ?? UnixTime(seconds: .max) }

    /// The last second of the validity. If the time is malformed, which is possible in a peer's certificate, the certificate
    /// counts as expired.
    public var notAfter: UnixTime { handle.notAfter ?? UnixTime(seconds: .min) }

    /// The subject alternative names; empty if they are malformed, which is possible in a peer's certificate.
    public var subjectAlternativeNames: [SubjectAlternativeName] { handle.subjectAlternativeNames ?? [] }

    /// The public key; nil when OpenSSL does not support it.
    public var publicKey: PublicKey? {
        handle.publicKey == nil ? nil : PublicKey(verified: handle.subjectPublicKeyInfo)
    }

    /// The algorithm and strength of the public key.
    public var keyType: KeyType { handle.publicKey?.type ?? .other(handle.keyAlgorithm) }

    /// The SHA-256 of the DER.
    public var fingerprint: SHA256Digest { handle.fingerprint }

    /// The signature algorithm, such as `sha256WithRSAEncryption`.
    public var signatureAlgorithm: String { handle.signatureAlgorithm }

    /// Whether subject and issuer are the same, and the certificate's own key has made its signature. Each access verifies the
    /// signature.
    public var isSelfSigned: Bool { handle.isSelfSigned }

    /// Whether the basic constraints allow it to issue certificates.
    public var isAuthority: Bool { handle.isAuthority }

    /// Whether servers have to staple an OCSP response to the certificate (RFC 7633).
    public var mustStaple: Bool { handle.mustStaple }

    /// The URLs of the OCSP responders for the certificate.
    public var ocspURLs: [String] { handle.ocspURLs }

    /// The URLs of the issuer's revocation lists.
    public var crlURLs: [String] { handle.crlURLs }
}

extension Certificate: Hashable {
    public static func == (left: Certificate, right: Certificate) -> Bool {
        left.handle === right.handle || left.handle.der == right.handle.der
    }

    /// Hashes only the end of the signature, which is fast to read and differs between certificates.
    public func hash(into hasher: inout Hasher) { hasher.combine(handle.signatureEnd) }
}

extension Certificate: CustomStringConvertible {
    public var description: String { "Certificate(\(subject), serial number \(serialNumber))" }
}
