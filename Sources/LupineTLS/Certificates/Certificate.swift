// SPDX-License-Identifier: MIT

/// One X.509 certificate (RFC 5280): a value that can be compared, kept and handed between threads.
///
/// Two certificates are equal when their DER is. Reading one looks at nothing but the syntax: whether a certificate is
/// to be trusted is asked of `PeerTrust`. Its fields are read from OpenSSL's object whenever they are asked for; keep
/// what is needed often.
public struct Certificate: Sendable {
    /// OpenSSL's own form of it.
    package let handle: OpenSSLHandle<X509Object>

    /// The largest DER that is read; the certificates of servers have a few KiB, those with a thousand names 20.
    public static let largestSize = 1 << 20

    /// The certificate behind a handle, whatever it holds.
    package init(_ handle: OpenSSLHandle<X509Object>) { self.handle = handle }

    /// Exactly one certificate in DER.
    ///
    /// - Throws: `CertificateError` when it is too large, broken off, followed by anything, BER and not DER, or when its
    ///   validity or its alternative names cannot be understood.
    public init(der: [UInt8]) throws(CertificateError) {
        try self.init(der: der, trustSettings: false)
    }

    /// The same; with `trustSettings`, what OpenSSL appends to a TRUSTED CERTIFICATE may follow it.
    init(der: [UInt8], trustSettings: Bool) throws(CertificateError) {
        guard der.count <= Certificate.largestSize else {
            throw .tooLarge(.certificate, count: der.count, limit: Certificate.largestSize)
        }
        handle = try OpenSSLHandle.certificate(der: der, trustSettings: trustSettings)
        let own = handle.der
        guard trustSettings ? der.starts(with: own) : der == own else {
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

    /// Who it is about.
    public var subject: DistinguishedName { handle.subject }

    /// Who has issued it.
    public var issuer: DistinguishedName { handle.issuer }

    /// The issuer's number for it.
    public var serialNumber: SerialNumber { SerialNumber(bytes: DERReader.content(of: handle.serialNumber)) }

    /// The first second of its validity; a certificate of a peer whose field is no time never becomes valid.
    public var notBefore: UnixTime { handle.notBefore ?? UnixTime(seconds: .max) }

    /// The last second of its validity; a certificate of a peer whose field is no time has always been over.
    public var notAfter: UnixTime { handle.notAfter ?? UnixTime(seconds: .min) }

    /// The names that it is for; none when a peer's certificate has them malformed.
    public var subjectAlternativeNames: [SubjectAlternativeName] { handle.subjectAlternativeNames ?? [] }

    /// Its key; nil when OpenSSL does not understand it.
    public var publicKey: PublicKey? {
        handle.publicKey == nil ? nil : PublicKey(verified: handle.subjectPublicKeyInfo)
    }

    /// The algorithm and strength of its key.
    public var keyType: KeyType { handle.publicKey?.type ?? .other(handle.keyAlgorithm) }

    /// SHA-256 of its DER.
    public var fingerprint: SHA256Digest { handle.fingerprint }

    /// The algorithm that it is signed with, such as `sha256WithRSAEncryption`.
    public var signatureAlgorithm: String { handle.signatureAlgorithm }

    /// Whether it is its own issuer, and the signature is its own key's. Costs a verification.
    public var isSelfSigned: Bool { handle.isSelfSigned }

    /// Whether its basic constraints allow it to issue certificates.
    public var isAuthority: Bool { handle.isAuthority }

    /// Whether servers have to staple an OCSP response to it (RFC 7633).
    public var mustStaple: Bool { handle.mustStaple }

    /// Where OCSP is spoken about it.
    public var ocspURLs: [String] { handle.ocspURLs }

    /// Where its issuer's revocation lists are.
    public var crlURLs: [String] { handle.crlURLs }
}

extension Certificate: Hashable {
    public static func == (left: Certificate, right: Certificate) -> Bool {
        left.handle === right.handle || left.handle.der == right.handle.der
    }

    /// Takes in the end of the signature alone: as good as unique, and cheap.
    public func hash(into hasher: inout Hasher) { hasher.combine(handle.signatureEnd) }
}

extension Certificate: CustomStringConvertible {
    public var description: String { "Certificate(\(subject), serial number \(serialNumber))" }
}
