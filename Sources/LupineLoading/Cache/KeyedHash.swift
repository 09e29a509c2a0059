// SPDX-License-Identifier: MIT

internal import LupineTLS

/// What stands for a secret where the secret itself may not: HMAC with SHA-256 (RFC 2104), in hexadecimal digits.
///
/// Whoever reads a cache's folder can tell that two entries had the same secret, and nothing else: without the key nothing
/// can be tried.
struct KeyedHash: Sendable {
    private static let blockSize = 64

    private let inner: [UInt8]
    private let outer: [UInt8]

    /// The hash with that key.
    init(key: [UInt8]) {
        var block = key.count > Self.blockSize ? SHA256Digest.of(key).bytes : key
        block += [UInt8](repeating: 0, count: Self.blockSize - block.count)
        inner = block.map { $0 ^ 0x36 }
        outer = block.map { $0 ^ 0x5C }
    }

    /// The hash of a text.
    func text(for secret: String) -> String {
        let digest = SHA256Digest.of(outer + SHA256Digest.of(inner + Array(secret.utf8)).bytes)
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: digest.bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
