// SPDX-License-Identifier: MIT

/// A pin of a public key: `sha256/` and the Base64 of the SHA-256 of its SubjectPublicKeyInfo, as defined by HPKP (RFC 7469 §2.4)
/// and accepted by curl.
public struct PublicKeyPin: Sendable, Hashable, CustomStringConvertible {
    /// SHA-256 of the SubjectPublicKeyInfo.
    public let digest: SHA256Digest

    /// The pin with this digest.
    public init(_ digest: SHA256Digest) { self.digest = digest }

    /// Parses `sha256/BASE64`; curl's `sha256//BASE64` means the same.
    ///
    /// - Throws: `CertificateError.malformed` when the prefix is different, or the rest is not the Base64 of 32 bytes.
    public init(_ text: String) throws(CertificateError) {
        guard text.hasPrefix(PublicKeyPin.prefix) else {
            throw .malformed(.pin, reason: "it does not begin with \(PublicKeyPin.prefix)")
        }
        // The Base64 of a digest has 44 characters, the first of which may be a slash. So a slash is curl's second slash only if
        // there are 45 characters.
        let suffix = text.utf8.dropFirst(PublicKeyPin.prefix.utf8.count)
        let hasSecondSlash = suffix.count == 45 && suffix.first == UInt8(ascii: "/")
        let base64 = hasSecondSlash ? suffix.dropFirst() : suffix
        guard let bytes = Base64.decode(base64), let digest = SHA256Digest(bytes: bytes) else {
            throw .malformed(.pin, reason: "what follows \(PublicKeyPin.prefix) is no BASE64 of 32 bytes")
        }
        self.digest = digest
    }

    /// `sha256/BASE64`.
    public var description: String { PublicKeyPin.prefix + Base64.encode(digest.bytes) }

    private static let prefix = "sha256/"
}
