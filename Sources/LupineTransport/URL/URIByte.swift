// SPDX-License-Identifier: MIT

internal import LupineHTTP

/// The character classes of RFC 3986 and its percent-encoding (§2). A triplet is a `%` with the two hexadecimal digits of a byte.
package enum URIByte {
    /// A `%` is not followed by two hexadecimal digits.
    struct MalformedTriplet: Error {
        /// The index of the `%` in the parsed collection.
        let offset: Int
    }

    /// Returns whether a byte is unreserved: ALPHA / DIGIT / "-" / "." / "_" / "~" (§2.3).
    package static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        // 0-9, A-Z, a-z, then - . _ ~
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
        case _: false
        }
    }

    /// Returns whether a byte is a sub-delimiter: "!" / "$" / "&" / "'" / "(" / ")" / "*" / "+" / "," / ";" / "=" (§2.2).
    package static func isSubDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        // In the order of the codes: ! $ then & to the comma, ; =
        case 0x21, 0x24, 0x26...0x2C, 0x3B, 0x3D: true
        case _: false
        }
    }

    /// Returns whether a byte may occur in a path outside of a triplet: pchar / "/" (§3.3).
    package static func isPath(_ byte: UInt8) -> Bool {
        // The last three are : @ and /
        isUnreserved(byte) || isSubDelimiter(byte) || byte == 0x3A || byte == 0x40 || byte == 0x2F
    }

    /// Returns whether a byte may occur in a query or fragment outside of a triplet: pchar / "/" / "?" (§3.4).
    package static func isQuery(_ byte: UInt8) -> Bool { isPath(byte) || byte == UInt8(ascii: "?") }

    /// Returns the index of the first `%` that is not followed by two hexadecimal digits; nil if there is none.
    package static func malformedTriplet(in text: ArraySlice<UInt8>) -> Int? {
        text.indices.first { index in
            guard text[index] == UInt8(ascii: "%") else { return false }
            guard index + 2 < text.endIndex else { return true }
            return Octet.hexadecimal(text[index + 1]) == nil || Octet.hexadecimal(text[index + 2]) == nil
        }
    }

    /// Returns the text with each triplet replaced by its byte, or the position of the first malformed triplet.
    static func percentDecoded(_ text: ArraySlice<UInt8>) -> Result<[UInt8], MalformedTriplet> {
        if let index = malformedTriplet(in: text) { return .failure(MalformedTriplet(offset: index)) }
        var decoded: [UInt8] = []
        decoded.reserveCapacity(text.count)
        var index = text.startIndex
        while index < text.endIndex {
            if text[index] == UInt8(ascii: "%"), let high = Octet.hexadecimal(text[index + 1]),
                let low = Octet.hexadecimal(text[index + 2])
            {
                decoded.append(high << 4 | low)
                index += 3
            } else {
                decoded.append(text[index])
                index += 1
            }
        }
        return .success(decoded)
    }

    /// Returns the triplet for a byte: `%` and two upper-case hexadecimal digits (§2.1).
    package static func percentEncoded(_ byte: UInt8) -> [UInt8] {
        // 0x30 is "0", and 0x37 + 10 is "A".
        func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x37 + value }
        return [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 0x0F)]
    }
}
