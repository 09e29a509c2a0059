// SPDX-License-Identifier: MIT

import Foundation

extension URLComponents {
    /// Sets the query to text that is already percent-encoded, and repairs it if it is not a valid query.
    ///
    /// Foundation's setter traps on text that is not a valid query (RFC 3986 §3.4). Encoders with a larger set of allowed
    /// characters can produce such text, so this method first escapes invalid characters, as `URL(string:)` does. For example,
    /// `k[]=1` becomes `k%5B%5D=1`, and a `#` does not start a fragment.
    mutating func setEncodedQuery(_ query: String?) {
        percentEncodedQuery = query.map { Self.isQuery($0) ? $0 : Self.repaired($0) }
    }

    /// Whether the text is a valid query: allowed characters, and percent signs that are followed by two hexadecimal digits.
    private static func isQuery(_ text: String) -> Bool {
        let bytes = text.utf8.span
        return bytes.indices.allSatisfy { index in
            if bytes[index] == UInt8(ascii: "%") {
                return index + 2 < bytes.count && isHexDigit(bytes[index + 1])
                    && isHexDigit(bytes[index + 2])
            }
            return PercentEscaping.wholeQuery.allows(bytes[index])
        }
    }

    /// Returns the text with each invalid character escaped. A percent sign without two hexadecimal digits after it is escaped
    /// too.
    private static func repaired(_ text: String) -> String {
        let segments = text.split(separator: "%", omittingEmptySubsequences: false)
        return segments.enumerated().map { index, segment in
            let escaped = PercentEscaping.wholeQuery.escape(String(segment))
            // Every segment except the first follows a percent sign.
            if index == 0 { return escaped }
            let digits = segment.utf8.prefix(2)
            let isEscape = digits.count == 2 && digits.allSatisfy(isHexDigit)
            return (isEscape ? "%" : "%25") + escaped
        }.joined()
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        case _: false
        }
    }
}
