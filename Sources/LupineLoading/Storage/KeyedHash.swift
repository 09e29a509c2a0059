// SPDX-License-Identifier: MIT

internal import LupineTLS

/// Computes the HMAC-SHA-256 (RFC 2104) that a cache stores in place of a secret, such as a credential in a request.
///
/// An attacker who reads a cache's folder sees whether two entries have the same secret, but without the key cannot test guesses.
package struct KeyedHash: Sendable {
    /// The length of a block of SHA-256 in bytes. The key is padded with zeros to this length.
    private static let blockSize = 64

    /// The padded key XOR `ipad`, the octet 0x36 (RFC 2104 §2).
    private let innerKey: [UInt8]
    /// The padded key XOR `opad`, the octet 0x5C (RFC 2104 §2).
    private let outerKey: [UInt8]

    /// Creates the hash with this key.
    package init(key: [UInt8]) {
        var block = key.count > Self.blockSize ? SHA256Digest.of(key).bytes : key
        block += [UInt8](repeating: 0, count: Self.blockSize - block.count)
        innerKey = block.map { $0 ^ 0x36 }
        outerKey = block.map { $0 ^ 0x5C }
    }

    /// Returns the hash of a secret in hexadecimal digits.
    func hexDigits(of secret: String) -> String {
        Hexadecimal.lowercase(SHA256Digest.of(outerKey + SHA256Digest.of(innerKey + secret.utf8).bytes).bytes)
    }
}
