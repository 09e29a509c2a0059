// SPDX-License-Identifier: MIT

internal import CLupineZlib

/// The checksum of gzip (RFC 1952 section 8): tells octets that an accident has changed. It is no signature: whoever wants to change
/// them makes it anew.
package struct CRC32: Sendable {
    /// The checksum of the octets so far.
    package private(set) var value: UInt32 = 0

    /// The checksum of no octets.
    package init() {}

    /// Takes the next octets.
    package mutating func update(_ octets: Span<UInt8>) {
        // Nothing at all would mean a new start to zlib.
        if octets.isEmpty { return }
        let former = UInt(value)
        value = unsafe octets.withUnsafeBufferPointer { buffer in
            UInt32(truncatingIfNeeded: unsafe crc32_z(former, buffer.baseAddress, buffer.count))
        }
    }
}
