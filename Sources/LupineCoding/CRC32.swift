// SPDX-License-Identifier: MIT

internal import CLupineZlib

/// The checksum of gzip (RFC 1952 §8). It detects accidental changes, but an attacker can recompute it.
package struct CRC32: Sendable {
    /// The checksum of the octets so far.
    package private(set) var value: UInt32 = 0

    /// The checksum of no octets.
    package init() {}

    /// Adds the next octets.
    package mutating func update(_ octets: Span<UInt8>) {
        // An empty buffer would reset zlib's checksum.
        if octets.isEmpty { return }
        let previous = UInt(value)
        value = unsafe octets.withUnsafeBufferPointer { buffer in
            UInt32(truncatingIfNeeded: unsafe crc32_z(previous, buffer.baseAddress, buffer.count))
        }
    }
}
