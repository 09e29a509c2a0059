// SPDX-License-Identifier: MIT

/// Formats bytes as hexadecimal digits.
enum Hexadecimal {
    /// With digits a to f.
    static func lowercase(_ bytes: some Sequence<UInt8>) -> String { text(bytes, digits: "0123456789abcdef") }

    /// With digits A to F.
    static func uppercase(_ bytes: some Sequence<UInt8>) -> String { text(bytes, digits: "0123456789ABCDEF") }

    private static func text(_ bytes: some Sequence<UInt8>, digits: StaticString) -> String {
        let digits = Array("\(digits)".utf8)
        return String(
            decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
