// SPDX-License-Identifier: MIT

extension ProxyServer.Credentials {
    /// The value of a Proxy-Authorization field under the Basic scheme (RFC 7617 §2): `Basic` and the user, a colon and the
    /// password in base64. The result is nil if the user contains a colon, because the scheme cannot carry one.
    package var basicAuthorization: String? {
        // 0x3A is the colon.
        guard !user.contains(0x3A) else { return nil }
        return "Basic " + Self.base64(user + [0x3A] + password)
    }

    /// Encodes bytes in base64 with padding (RFC 4648 §4).
    private static func base64(_ bytes: [UInt8]) -> String {
        // Returns the character for a value of six bits. The alphabet is A-Z, a-z, 0-9, + and /, in this order.
        func character(_ value: UInt32) -> UInt8 {
            let value = UInt8(truncatingIfNeeded: value & 0x3F)
            // The codes below are those of A, a, 0, + and /.
            return switch value {
            case 0..<26: 0x41 + value
            case 26..<52: 0x61 + (value - 26)
            case 52..<62: 0x30 + (value - 52)
            case 62: 0x2B
            case _: 0x2F
            }
        }
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            // Up to three octets, filled with zeros to 24 bits, give four characters of six bits each. A `=` (0x3D) replaces each
            // character that contains no bit of an octet.
            let bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
            for index in 0..<4 {
                text.append(index <= group.count ? character(bits >> UInt32(18 - 6 * index)) : 0x3D)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
