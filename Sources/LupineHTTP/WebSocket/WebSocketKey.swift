// SPDX-License-Identifier: MIT

/// The key of a handshake and the answer that belongs to it (RFC 6455 §4.1, §4.2.2).
///
/// A server that does not speak WebSocket cannot guess the answer, and a cache cannot have it: that is all it proves.
package struct WebSocketKey: Hashable, Sendable {
    /// As it stands in `Sec-WebSocket-Key`: the base64 of 16 octets.
    package let text: String

    /// What every server appends to a key.
    private static let suffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

    /// A key of 16 octets; they must come from a source that nobody can foresee.
    package init(_ first: UInt64, _ second: UInt64) {
        var octets: [UInt8] = []
        for half in [first, second] {
            for place in stride(from: UInt64(56), through: 0, by: -8) {
                octets.append(UInt8(truncatingIfNeeded: half >> place))
            }
        }
        text = Self.base64(octets.span)
    }

    /// The key that a request brought: nil unless it is the base64 of 16 octets.
    init?(received value: Span<UInt8>) {
        guard value.count == 24, value[22] == Octet.equals, value[23] == Octet.equals else { return nil }
        for index in 0..<22 {
            guard let digit = Self.digits.firstIndex(of: value[index]) else { return nil }
            // Of the last digit, two bits count, and the others are zeros.
            if index == 21, digit & 0xF != 0 { return nil }
        }
        text = value.text(0..<24)
    }

    /// What `Sec-WebSocket-Accept` has to say.
    package var accept: String {
        let hashed = Array((text + Self.suffix).utf8)
        return Self.base64(SHA1.digest(hashed.span).span)
    }

    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

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
