// SPDX-License-Identifier: MIT

import Foundation

/// Percent-encodes the keys and values of a query or a form. It is not meant for whole URLs.
///
/// The bytes that need no escaping are stored in a table of 128 bits. Each byte of a non-ASCII character is escaped, even if the
/// caller's set contains the character (RFC 3986 §2.1).
struct PercentEscaping: Sendable {
    /// Allows `CharacterSet.afURLQueryAllowed`.
    static let query = PercentEscaping(allowed: .afURLQueryAllowed)

    /// Allows every character that RFC 3986 §3.4 allows in a query, including delimiters.
    static let wholeQuery = PercentEscaping(
        allowed: CharacterSet.urlQueryAllowed.intersection(CharacterSet(charactersIn: "\u{0}"..."\u{7F}")))

    /// A bit for each byte from 0 to 63, which is 1 if the byte is allowed. The number of the bit is the value of the byte.
    private var allowedLow: UInt64 = 0
    /// A bit for each byte from 64 to 127. The number of the bit is the value of the byte modulo 64.
    private var allowedHigh: UInt64 = 0
    private let writesPlusForSpace: Bool

    /// Creates an escaping that leaves the ASCII characters of `allowed` unchanged. If `writesPlusForSpace` is true, a space
    /// becomes `+`, unless it is allowed.
    init(allowed: CharacterSet, writesPlusForSpace: Bool = false) {
        self.writesPlusForSpace = writesPlusForSpace
        for code in UInt8(0)..<64 where allowed.contains(Unicode.Scalar(code)) {
            allowedLow |= 1 << UInt64(code)
        }
        for code in UInt8(64)..<128 where allowed.contains(Unicode.Scalar(code)) {
            allowedHigh |= 1 << UInt64(code & 63)
        }
    }

    /// Whether `byte` is left unescaped.
    func allows(_ byte: UInt8) -> Bool {
        if byte < 64 { return allowedLow >> UInt64(byte) & 1 == 1 }
        return byte < 128 && allowedHigh >> UInt64(byte & 63) & 1 == 1
    }

    /// Returns `text` with all bytes escaped that are not allowed. If all bytes are allowed, returns `text` without a copy.
    func escape(_ text: String) -> String {
        let source = text.utf8.span
        guard let firstDisallowed = source.indices.first(where: { !allows(source[$0]) }) else { return text }
        var bytes: [UInt8] = []
        // An estimate, which leaves room for some escapes: each is two bytes longer than the byte that it replaces.
        bytes.reserveCapacity(source.count + source.count / 2 + 8)
        for index in 0..<firstDisallowed { bytes.append(source[index]) }
        for index in firstDisallowed..<source.count {
            let byte = source[index]
            if allows(byte) {
                bytes.append(byte)
            } else if byte == UInt8(ascii: " "), writesPlusForSpace {
                bytes.append(UInt8(ascii: "+"))
            } else {
                bytes.append(UInt8(ascii: "%"))
                bytes.append(Self.hexDigit(byte >> 4))
                bytes.append(Self.hexDigit(byte & 15))
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the upper-case hexadecimal digit for a value from 0 to 15.
    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + (value - 10)
    }
}
