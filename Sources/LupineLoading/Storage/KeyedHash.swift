// SPDX-License-Identifier: MIT

internal import LupineTLS

/// Computes the HMAC-SHA-256 (RFC 2104) that a cache stores in place of a secret.
///
/// An attacker who reads a cache's folder sees that two entries had the same secret, but cannot test guesses without the key.
struct KeyedHash: Sendable {
    /// The length of a block of SHA-256 in bytes, to which the key is padded.
    private static let blockSize = 64

    /// The padded key XOR `ipad`, the octet 0x36 (RFC 2104 §2).
    private let inner: [UInt8]
    /// The padded key XOR `opad`, the octet 0x5C.
    private let outer: [UInt8]

    /// Creates the hash with this key.
    init(key: [UInt8]) {
        var block = key.count > Self.blockSize ? SHA256Digest.of(key).bytes : key
        block += [UInt8](repeating: 0, count: Self.blockSize - block.count)
        inner = block.map { $0 ^ 0x36 }
        outer = block.map { $0 ^ 0x5C }
    }

    /// Returns the hash of a secret in hexadecimal digits.
    func text(for secret: String) -> String {
        Hexadecimal.lowercase(SHA256Digest.of(outer + SHA256Digest.of(inner + secret.utf8).bytes).bytes)
    }
}
