// SPDX-License-Identifier: MIT

/// Percent-encoding for queries and forms.
enum PercentEncoding {
    /// Encodes all but the unreserved characters (RFC 3986 §2.3).
    static func encoded(_ text: String) -> String { encoded(text, space: "%20") }

    /// Encodes all but the unreserved characters, and a space as a plus sign, for a form.
    static func form(_ text: String) -> String { encoded(text, space: "+") }

    private static func encoded(_ text: String, space: String) -> String {
        var result = ""
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E:
                result.unicodeScalars.append(UnicodeScalar(byte))
            case 0x20: result += space
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                result += "%" + (digits.count == 1 ? "0" : "") + digits
            }
        }
        return result
    }
}
