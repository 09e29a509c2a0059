// SPDX-License-Identifier: MIT

/// A public key. Keys with the same SubjectPublicKeyInfo (RFC 5280 §4.1.2.7), which contains algorithm and value, are equal.
public struct PublicKey: Sendable, Hashable {
    /// The DER of the SubjectPublicKeyInfo.
    public let subjectPublicKeyInfo: [UInt8]

    /// The largest DER that is accepted; an RSA key with 16384 bits has 2 KiB.
    public static let largestSize = 64 << 10

    /// Creates a value for a key that OpenSSL has already parsed.
    init(verified subjectPublicKeyInfo: [UInt8]) { self.subjectPublicKeyInfo = subjectPublicKeyInfo }

    /// Parses exactly one SubjectPublicKeyInfo in DER.
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

    /// The algorithm and strength. Each access parses the key.
    public var type: KeyType {
        (try? OpenSSLHandle<KeyObject>.publicKey(der: subjectPublicKeyInfo).type) ?? .other("unknown")
    }

    /// The SHA-256 of the SubjectPublicKeyInfo.
    public var fingerprint: SHA256Digest { SHA256Digest.of(subjectPublicKeyInfo) }

    /// The pin of the key.
    public var pin: PublicKeyPin { PublicKeyPin(fingerprint) }
}
