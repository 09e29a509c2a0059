// SPDX-License-Identifier: MIT

import Foundation

/// Percent-encodes text for a query or a form, but not whole URLs. The allowed bytes are stored in a table of 128 bits.
///
/// A value type; can be used on any thread. Non-ASCII characters are always escaped, each byte of their UTF-8, even if the
/// caller's set contains them (RFC 3986 §2.1).
struct PercentEscaping: Sendable {
    /// Allows `CharacterSet.afURLQueryAllowed`.
    static let query = PercentEscaping(allowed: .afURLQueryAllowed)

    /// Allows every character that RFC 3986 §3.4 allows in a query, including delimiters.
    static let wholeQuery = PercentEscaping(
        allowed: CharacterSet.urlQueryAllowed.intersection(CharacterSet(charactersIn: "\u{0}"..."\u{7F}")))

    /// The allowed bytes from 0 to 63, one bit for each.
    private var allowedLow: UInt64 = 0
    /// The allowed bytes from 64 to 127, one bit for each: the bit of a byte is its value modulo 64.
    private var allowedHigh: UInt64 = 0
    private var writesPlusForSpace = false

    /// Allows the ASCII characters of `allowed`. With `plusForSpace` a space becomes `+`, unless it is allowed.
    init(allowed: CharacterSet, plusForSpace: Bool = false) {
        for code in UInt8(0)..<64 where allowed.contains(Unicode.Scalar(code)) {
            allowedLow |= 1 << UInt64(code)
        }
        for code in UInt8(64)..<128 where allowed.contains(Unicode.Scalar(code)) {
            allowedHigh |= 1 << UInt64(code & 63)
        }
        writesPlusForSpace = plusForSpace
    }

    /// Whether `byte` is left unescaped.
    func allows(_ byte: UInt8) -> Bool {
        if byte < 64 { return allowedLow >> UInt64(byte) & 1 == 1 }
        return byte < 128 && allowedHigh >> UInt64(byte & 63) & 1 == 1
    }

    /// Returns `text`, escaped. Text that needs no escaping is returned without a copy.
    func escape(_ text: String) -> String {
        let source = text.utf8.span
        guard let first = source.indices.first(where: { !allows(source[$0]) }) else { return text }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(source.count + source.count / 2 + 8)
        for index in 0..<first { bytes.append(source[index]) }
        for index in first..<source.count {
            let byte = source[index]
            if allows(byte) {
                bytes.append(byte)
            } else if byte == 0x20, writesPlusForSpace {
                bytes.append(UInt8(ascii: "+"))
            } else {
                bytes.append(UInt8(ascii: "%"))
                bytes.append(Self.hexDigit(byte >> 4))
                bytes.append(Self.hexDigit(byte & 15))
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + (value - 10)
    }
}
