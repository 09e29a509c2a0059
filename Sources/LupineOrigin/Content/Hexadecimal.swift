// SPDX-License-Identifier: MIT

/// Converts octets to hexadecimal digits and back.
enum Hexadecimal {
    private static let digits = Array("0123456789abcdef".utf8)

    /// Returns two lowercase digits for each octet.
    static func text(_ bytes: [UInt8]) -> String {
        var octets: [UInt8] = []
        octets.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            octets.append(digits[Int(byte >> 4)])
            octets.append(digits[Int(byte & 15)])
        }
        return String(decoding: octets, as: UTF8.self)
    }

    /// Returns the value of a digit in either case; nil for any other octet.
    static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// Returns the octets that pairs of digits represent; nil for any other text.
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
