// SPDX-License-Identifier: MIT

/// SHA-512/256, which digest authentication calls `SHA-512-256`.
struct SHA512Cut: HashFunction {
    private var whole = SHA512(cutTo256: ())

    mutating func update(_ bytes: Span<UInt8>) { whole.update(bytes) }

    mutating func finish() -> [UInt8] { whole.finish() }
}
