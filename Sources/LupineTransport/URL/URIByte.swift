// SPDX-License-Identifier: MIT

internal import LupineHTTP

/// The byte classes of RFC 3986 and its percent-encoding (§2).
package enum URIByte {
    /// The error of a `%` that is not followed by two hexadecimal digits.
    struct MalformedTriplet: Error {
        /// The index of the `%` in the parsed collection.
        let offset: Int
    }

    /// Whether a byte is unreserved: ALPHA / DIGIT / "-" / "." / "_" / "~" (§2.3).
    package static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
        case _: false
        }
    }

    /// Whether a byte is a sub-delimiter: "!" / "$" / "&" / "'" / "(" / ")" / "*" / "+" / "," / ";" / "=" (§2.2).
    package static func isSubDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x21, 0x24, 0x26...0x2C, 0x3B, 0x3D: true
        case _: false
        }
    }

    /// Whether a byte may occur in a path outside percent-encoding: pchar / "/" (§3.3).
    package static func isPath(_ byte: UInt8) -> Bool {
        // : @ and /
        isUnreserved(byte) || isSubDelimiter(byte) || byte == 0x3A || byte == 0x40 || byte == 0x2F
    }

    /// Whether a byte may occur in a query or fragment outside percent-encoding: pchar / "/" / "?" (§3.4).
    package static func isQuery(_ byte: UInt8) -> Bool { isPath(byte) || byte == UInt8(ascii: "?") }

    /// Returns the index of the first `%` that two hexadecimal digits do not follow; nil if there is none.
    package static func malformedTriplet(in text: ArraySlice<UInt8>) -> Int? {
        text.indices.first { place in
            text[place] == UInt8(ascii: "%")
                && !(place + 2 < text.endIndex && Octet.hexadecimal(text[place + 1]) != nil
                    && Octet.hexadecimal(text[place + 2]) != nil)
        }
    }

    /// Returns the text with each triplet replaced by its byte, or the position of a malformed triplet.
    static func percentDecoded(_ text: ArraySlice<UInt8>) -> Result<[UInt8], MalformedTriplet> {
        if let place = malformedTriplet(in: text) { return .failure(MalformedTriplet(offset: place)) }
        var decoded: [UInt8] = []
        decoded.reserveCapacity(text.count)
        var place = text.startIndex
        while place < text.endIndex {
            if text[place] == UInt8(ascii: "%"), let high = Octet.hexadecimal(text[place + 1]),
                let low = Octet.hexadecimal(text[place + 2])
            {
                decoded.append(high << 4 | low)
                place += 3
            } else {
                decoded.append(text[place])
                place += 1
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
