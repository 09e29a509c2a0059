// SPDX-License-Identifier: MIT

/// The masking key of a client's frame (RFC 6455 §5.3).
///
/// Masking prevents a script from choosing the octets that an intermediary sees, so each frame needs a new, unpredictable key.
/// This module has no random numbers: the sender of the frame supplies the key.
package struct WebSocketMask: Hashable, Sendable {
    /// The four octets, the first in the highest byte.
    package let key: UInt32

    /// Creates a mask.
    ///
    /// - Parameter key: the four octets, the first in the highest byte.
    package init(key: UInt32) { self.key = key }

    /// Masks or unmasks, which is the same operation, the octets from `start` on; the first of them is at `payloadOffset` in the
    /// payload.
    func apply(to octets: inout MutableSpan<UInt8>, from start: Int, payloadOffset: Int) {
        // The key twice, its first octet in the lowest byte, rotated so that byte `index & 7` of `pattern` masks the octet at
        // `index`.
        let word = UInt64(key.byteSwapped) | UInt64(key.byteSwapped) << 32
        let shift = UInt64(truncatingIfNeeded: (payloadOffset &- start) & 3) &* 8
        let pattern = word >> shift | word << ((64 &- shift) & 63)
        for index in start..<octets.count {
            octets[index] ^= UInt8(
                truncatingIfNeeded: pattern >> (UInt64(truncatingIfNeeded: index & 7) &* 8))
        }
    }
}
