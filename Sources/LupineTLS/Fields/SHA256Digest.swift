// SPDX-License-Identifier: MIT

/// A SHA-256 digest, by which certificates and keys are identified.
public struct SHA256Digest: Sendable, Hashable, CustomStringConvertible {
    /// The 32 bytes.
    public let bytes: [UInt8]

    /// The length in bytes.
    package static let byteCount = 32

    /// Creates a digest with these bytes; nil unless there are 32.
    public init?(bytes: [UInt8]) {
        guard bytes.count == SHA256Digest.byteCount else { return nil }
        self.bytes = bytes
    }

    /// Creates a digest with these bytes. The caller guarantees that there are 32.
    init(verified bytes: [UInt8]) { self.bytes = bytes }

    /// Hashes only the first eight bytes, which are distributed like random numbers.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(bytes[..<8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }

    /// Lower-case hexadecimal.
    public var description: String { Hexadecimal.lowercase(bytes) }
}
