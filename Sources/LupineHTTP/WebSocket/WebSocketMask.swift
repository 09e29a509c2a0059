// SPDX-License-Identifier: MIT

/// The masking key of a client's frame (RFC 6455 §5.3).
///
/// Masking prevents a script in a client from choosing the octets that an intermediary sees. Each frame therefore needs a new,
/// unpredictable key. This module has no random numbers: the caller that sends a frame passes the key.
package struct WebSocketMask: Hashable, Sendable {
    /// The four octets of the key, the first in the highest byte.
    package let key: UInt32

    /// Creates a mask.
    ///
    /// - Parameter key: The four octets of the key, the first in the highest byte.
    package init(key: UInt32) { self.key = key }

    /// Masks or unmasks the octets from `start` on, which is the same operation. The first of them is the octet at
    /// `payloadOffset` of the frame's payload.
    func apply(to octets: inout MutableSpan<UInt8>, from start: Int, payloadOffset: Int) {
        // `word` contains the key twice, with its first octet in the lowest byte. `pattern` is `word` rotated, so that its byte
        // `index & 7` masks the octet at `index`. The last `& 63` avoids a shift by 64, if there is nothing to rotate.
        let word = UInt64(key.byteSwapped) | UInt64(key.byteSwapped) << 32
        let shift = UInt64(truncatingIfNeeded: (payloadOffset &- start) & 3) &* 8
        let pattern = word >> shift | word << ((64 &- shift) & 63)
        for index in start..<octets.count {
            octets[index] ^= UInt8(
                truncatingIfNeeded: pattern >> (UInt64(truncatingIfNeeded: index & 7) &* 8))
        }
    }
}
