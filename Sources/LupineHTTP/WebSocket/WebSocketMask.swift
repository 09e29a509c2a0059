// SPDX-License-Identifier: MIT

/// The key that hides a client's payload from what stands in between (RFC 6455 §5.3).
///
/// It keeps a script from choosing the octets that an intermediary sees, so each frame needs a key of its own that
/// nobody can guess. This module has no randomness: whoever sends the frame brings the key.
package struct WebSocketMask: Hashable, Sendable {
    /// The four octets, the first in the highest byte.
    package let key: UInt32

    /// - Parameter key: the four octets, the first in the highest byte.
    package init(key: UInt32) { self.key = key }

    /// Masks, or unmasks, which is the same: the octets from `start` on, the first of them at `place` of its payload.
    func apply(to octets: inout MutableSpan<UInt8>, from start: Int, place: Int) {
        let word = UInt64(key.byteSwapped) | UInt64(key.byteSwapped) << 32
        let shift = UInt64(truncatingIfNeeded: (place &- start) & 3) &* 8
        let pattern = word >> shift | word << ((64 &- shift) & 63)
        for index in start..<octets.count {
            octets[index] ^= UInt8(
                truncatingIfNeeded: pattern >> (UInt64(truncatingIfNeeded: index & 7) &* 8))
        }
    }
}
