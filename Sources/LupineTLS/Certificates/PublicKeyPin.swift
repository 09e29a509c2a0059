// SPDX-License-Identifier: MIT

/// The name of a public key in a list of pins: `sha256/` and the BASE64 of the SHA-256 of its SubjectPublicKeyInfo, as
/// HPKP (RFC 7469 §2.4) counted it and as curl takes it.
public struct PublicKeyPin: Sendable, Hashable, CustomStringConvertible {
    /// SHA-256 of the SubjectPublicKeyInfo.
    public let digest: SHA256Digest

    /// The pin of a digest.
    public init(_ digest: SHA256Digest) { self.digest = digest }

    /// The pin of a text `sha256/BASE64`; curl's `sha256//BASE64` is the same.
    ///
    /// - Throws: `CertificateError.malformed` when the text has another beginning, or no BASE64 of 32 bytes.
    public init(_ text: String) throws(CertificateError) {
        guard text.hasPrefix(PublicKeyPin.prefix) else {
            throw .malformed(.pin, reason: "it does not begin with \(PublicKeyPin.prefix)")
        }
        // A digest that begins with a slash needs its 44 characters; curl's second slash makes them 45.
        let rest = text.utf8.dropFirst(PublicKeyPin.prefix.utf8.count)
        let digits = rest.count == 45 && rest.first == UInt8(ascii: "/") ? rest.dropFirst() : rest
        guard let bytes = Base64.decode(digits), let digest = SHA256Digest(bytes: bytes) else {
            throw .malformed(.pin, reason: "what follows \(PublicKeyPin.prefix) is no BASE64 of 32 bytes")
        }
        self.digest = digest
    }

    /// `sha256/BASE64`.
    public var description: String { PublicKeyPin.prefix + Base64.encode(digest.bytes) }

    private static let prefix = "sha256/"
}
