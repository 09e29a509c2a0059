// SPDX-License-Identifier: MIT

/// A SHA-256 digest: what certificates and keys are named by.
public struct SHA256Digest: Sendable, Hashable, CustomStringConvertible {
    /// Its 32 bytes.
    public let bytes: [UInt8]

    /// How many bytes it has.
    package static let byteCount = 32

    /// A digest of these bytes; nil when they are not 32.
    public init?(bytes: [UInt8]) {
        guard bytes.count == SHA256Digest.byteCount else { return nil }
        self.bytes = bytes
    }

    /// A digest of bytes that are known to be 32.
    init(verified bytes: [UInt8]) { self.bytes = bytes }

    /// The first bytes of it: all are as good as random.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(bytes[..<8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }

    /// Lower-case hexadecimal.
    public var description: String { Hexadecimal.lowercase(bytes) }
}
