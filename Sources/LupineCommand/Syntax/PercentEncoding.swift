// SPDX-License-Identifier: MIT

/// Percent-encodes text for queries and forms. Only the unreserved characters (RFC 3986 §2.3) are not encoded.
enum PercentEncoding {
    /// Returns the encoded text for a query, in which a space becomes `%20`.
    static func encoded(_ text: String) -> String { encoded(text, space: "%20") }

    /// Returns the encoded text for a form (`application/x-www-form-urlencoded`), in which a space becomes a plus sign.
    static func form(_ text: String) -> String { encoded(text, space: "+") }

    /// Returns the encoded text, with `space` in place of each space.
    private static func encoded(_ text: String, space: String) -> String {
        var result = ""
        for byte in text.utf8 {
            switch UnicodeScalar(byte) {
            case "0"..."9", "A"..."Z", "a"..."z", "-", ".", "_", "~":
                result.unicodeScalars.append(UnicodeScalar(byte))
            case " ": result += space
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                result += "%" + (digits.count == 1 ? "0" : "") + digits
            }
        }
        return result
    }
}
