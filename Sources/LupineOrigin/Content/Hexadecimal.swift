// SPDX-License-Identifier: MIT

/// Octets as pairs of hexadecimal digits, and a digit as its number.
enum Hexadecimal {
    private static let digits = Array("0123456789abcdef".utf8)

    /// Two small digits per octet.
    static func text(_ bytes: [UInt8]) -> String {
        var octets: [UInt8] = []
        octets.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            octets.append(digits[Int(byte >> 4)])
            octets.append(digits[Int(byte & 15)])
        }
        return String(decoding: octets, as: UTF8.self)
    }

    /// The number of a digit in either case; nil for anything else.
    static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// The octets that pairs of digits stand for; nil for anything else.
    static func octets(_ text: String) -> [UInt8]? {
        let digits = text.utf8.map { value($0) }
        guard digits.count % 2 == 0 else { return nil }
        var octets: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[index], let low = digits[index + 1] else { return nil }
            octets.append(high << 4 | low)
        }
        return octets
    }
}
