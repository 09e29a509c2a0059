// SPDX-License-Identifier: MIT

/// The key of a handshake, and the matching `Sec-WebSocket-Accept` (RFC 6455 §4.1, §4.2.2).
///
/// Only a server that speaks WebSocket computes the answer to a new key, and no cache contains it. The key proves no more than
/// that.
package struct WebSocketKey: Hashable, Sendable {
    /// The value of `Sec-WebSocket-Key`: the base64 of 16 octets.
    package let text: String

    /// The GUID that every server appends to the key.
    private static let suffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

    /// A key of 16 octets, which must be unpredictable.
    package init(_ first: UInt64, _ second: UInt64) {
        var octets: [UInt8] = []
        for half in [first, second] {
            for place in stride(from: UInt64(56), through: 0, by: -8) {
                octets.append(UInt8(truncatingIfNeeded: half >> place))
            }
        }
        text = Self.base64(octets.span)
    }

    /// A received key: nil unless it is the base64 of 16 octets.
    init?(received value: Span<UInt8>) {
        guard value.count == 24, value[22] == Octet.equals, value[23] == Octet.equals else { return nil }
        for index in 0..<22 {
            guard let digit = Self.digits.firstIndex(of: value[index]) else { return nil }
            // Only two bits of the last digit are used; the others must be zero.
            if index == 21, digit & 0xF != 0 { return nil }
        }
        text = value.text(0..<24)
    }

    /// The required value of `Sec-WebSocket-Accept`.
    package var accept: String {
        let hashed = Array((text + Self.suffix).utf8)
        return Self.base64(SHA1.digest(hashed.span).span)
    }

    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// Encodes octets in base64: a group of n octets as n + 1 digits and padding.
    private static func base64(_ octets: Span<UInt8>) -> String {
        var text: [UInt8] = []
        for start in stride(from: 0, to: octets.count, by: 3) {
            let count = min(3, octets.count - start)
            var bits: UInt32 = 0
            for index in 0..<3 { bits = bits << 8 | (index < count ? UInt32(octets[start + index]) : 0) }
            for index in 0..<4 {
                let digit = Int(bits >> UInt32(18 - 6 * index) & 0x3F)
                text.append(index <= count ? digits[digit] : Octet.equals)
            }
        }
        return text.span.text(0..<text.count)
    }
}
