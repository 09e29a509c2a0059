// SPDX-License-Identifier: MIT

/// The key of an opening handshake, and the value of `Sec-WebSocket-Accept` that answers it (RFC 6455 §4.1, §4.2.2).
///
/// Only a server that speaks WebSocket can answer a new key: a server of another kind, or a cache, cannot. The key is no
/// protection against anything else.
package struct WebSocketKey: Hashable, Sendable {
    /// The value of `Sec-WebSocket-Key`: the base64 of 16 octets.
    package let text: String

    /// The GUID that every server appends to the key.
    private static let suffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

    /// Creates a key from two random numbers, which must be unpredictable.
    package init(_ first: UInt64, _ second: UInt64) {
        var octets: [UInt8] = []
        for half in [first, second] {
            for shift in stride(from: UInt64(56), through: 0, by: -8) {
                octets.append(UInt8(truncatingIfNeeded: half >> shift))
            }
        }
        text = Self.base64(octets.span)
    }

    /// Creates a key from the received value of `Sec-WebSocket-Key`. Returns nil unless it is the base64 of 16 octets.
    init?(received value: Span<UInt8>) {
        // 16 octets have 22 digits, and two equals signs as padding.
        guard value.count == 24, value[22] == Octet.equals, value[23] == Octet.equals else { return nil }
        for index in 0..<22 {
            guard let digit = Self.base64Digits.firstIndex(of: value[index]) else { return nil }
            // Of the six bits of the last digit only the upper two are used; the lower four must be zero.
            if index == 21, digit & 0xF != 0 { return nil }
        }
        text = value.text(0..<24)
    }

    /// The value of `Sec-WebSocket-Accept` with which the server has to answer this key.
    package var accept: String {
        let message = Array((text + Self.suffix).utf8)
        return Self.base64(SHA1.digest(message.span).span)
    }

    private static let base64Digits = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// Encodes octets in base64: each group of up to 3 octets becomes 4 digits. If the group has n octets, only the first n + 1
    /// digits are used, and the others are replaced by `=`.
    private static func base64(_ octets: Span<UInt8>) -> String {
        var text: [UInt8] = []
        for start in stride(from: 0, to: octets.count, by: 3) {
            let count = min(3, octets.count - start)
            // The 24 bits of the group, of which each digit takes 6.
            var bits: UInt32 = 0
            for index in 0..<3 {
                let octet = index < count ? octets[start + index] : 0
                bits = bits << 8 | UInt32(octet)
            }
            for index in 0..<4 {
                let digit = Int(bits >> UInt32(18 - 6 * index) & 0x3F)
                text.append(index <= count ? base64Digits[digit] : Octet.equals)
            }
        }
        return text.span.text(0..<text.count)
    }
}
