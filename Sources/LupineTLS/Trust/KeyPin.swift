// SPDX-License-Identifier: MIT

/// The SHA-256 of a SubjectPublicKeyInfo, written `sha256/BASE64` as in RFC 7469.
///
/// It pins a key: a renewed certificate with the same key still fits.
public struct KeyPin: Sendable, Hashable, CustomStringConvertible {
    /// The 32 octets.
    public let digest: [UInt8]

    /// The pin of a key.
    public init(_ key: PublicKey) { digest = Array(key.fingerprint) }

    /// A pin as it is written: `sha256/`, then 44 characters of Base64.
    public init(_ text: String) throws(KeyPinError) {
        let prefix = "sha256/"
        guard text.hasPrefix(prefix), let digest = Base64.decode(text.utf8.dropFirst(prefix.utf8.count)),
            digest.count == 32
        else { throw KeyPinError(text: text) }
        self.digest = digest
    }

    public var description: String { "sha256/" + Base64.encode(digest) }
}

/// A text that is no pin.
public struct KeyPinError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was given.
    public let text: String

    public var description: String {
        "\"\(text)\" is no pin: it has to be sha256/ and the Base64 of a SHA-256, 44 characters"
    }
}
