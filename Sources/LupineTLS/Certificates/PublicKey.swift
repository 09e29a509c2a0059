// SPDX-License-Identifier: MIT

/// A public key, equal to another when algorithm and value are: their SubjectPublicKeyInfo (RFC 5280 §4.1.2.7).
public struct PublicKey: Sendable, Hashable {
    /// The DER of its SubjectPublicKeyInfo.
    public let subjectPublicKeyInfo: [UInt8]

    /// The largest DER that is read; RSA with 16384 bits has 2 KiB.
    public static let largestSize = 64 << 10

    /// A key that OpenSSL has read.
    init(verified subjectPublicKeyInfo: [UInt8]) { self.subjectPublicKeyInfo = subjectPublicKeyInfo }

    /// The key of exactly one SubjectPublicKeyInfo in DER.
    public init(subjectPublicKeyInfo: [UInt8]) throws(CertificateError) {
        guard subjectPublicKeyInfo.count <= PublicKey.largestSize else {
            throw .tooLarge(.publicKey, count: subjectPublicKeyInfo.count, limit: PublicKey.largestSize)
        }
        let key = try OpenSSLHandle<KeyObject>.publicKey(der: subjectPublicKeyInfo)
        guard key.subjectPublicKeyInfo == subjectPublicKeyInfo else {
            throw .malformed(.publicKey, reason: "not the DER of what it says")
        }
        self.subjectPublicKeyInfo = subjectPublicKeyInfo
    }

    /// Its algorithm and strength.
    public var type: KeyType {
        (try? OpenSSLHandle<KeyObject>.publicKey(der: subjectPublicKeyInfo).type) ?? .other("unknown")
    }

    /// SHA-256 of its SubjectPublicKeyInfo.
    public var fingerprint: SHA256Digest { SHA256Digest.of(subjectPublicKeyInfo) }

    /// The pin that names it.
    public var pin: PublicKeyPin { PublicKeyPin(fingerprint) }
}
