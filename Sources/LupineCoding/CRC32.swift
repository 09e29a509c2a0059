// SPDX-License-Identifier: MIT

internal import CLupineZlib

/// The checksum of gzip (RFC 1952 §8). It detects accidental changes, but an attacker can recompute it.
package struct CRC32: Sendable {
    /// The checksum of all octets that ``update(_:)`` has added.
    package private(set) var value: UInt32 = 0

    /// Creates the checksum of no octets.
    package init() {}

    /// Adds the next octets to the checksum.
    package mutating func update(_ octets: Span<UInt8>) {
        // zlib returns its initial checksum for a null pointer, which an empty buffer may have.
        if octets.isEmpty { return }
        let previous = UInt(value)
        value = unsafe octets.withUnsafeBufferPointer { buffer in
            UInt32(truncatingIfNeeded: unsafe crc32_z(previous, buffer.baseAddress, buffer.count))
        }
    }
}
