// SPDX-License-Identifier: MIT

/// Converts bytes to hexadecimal digits and back.
///
/// LupineHTTP has its own function for one digit (`Octet.hexadecimal`), because LupineTLS and LupineHTTP do not import each
/// other.
package enum Hexadecimal {
    /// Returns the digits of the bytes, with a to f.
    package static func lowercase(_ bytes: [UInt8]) -> String {
        text(bytes, digitForTen: UInt8(ascii: "a"))
    }

    /// Returns the digits of the bytes, with A to F.
    package static func uppercase(_ bytes: [UInt8]) -> String {
        text(bytes, digitForTen: UInt8(ascii: "A"))
    }

    /// Returns the digits of the bytes. `digitForTen` is the digit for the value 10, an upper-case or lower-case A in ASCII,
    /// which decides the case of all digits.
    private static func text(_ bytes: [UInt8], digitForTen: UInt8) -> String {
        var digits: [UInt8] = []
        digits.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            digits.append(digit(for: byte >> 4, digitForTen: digitForTen))
            digits.append(digit(for: byte & 15, digitForTen: digitForTen))
        }
        return String(decoding: digits, as: UTF8.self)
    }

    private static func digit(for value: UInt8, digitForTen: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : digitForTen - 10 + value
    }

    /// Returns the value of a digit in either case; nil for any other octet.
    static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    /// Returns the bytes that pairs of digits represent; nil for any other text.
    package static func bytes(_ text: String) -> [UInt8]? {
        let digits = text.utf8.map { value($0) }
        guard digits.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[index], let low = digits[index + 1] else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }
}
