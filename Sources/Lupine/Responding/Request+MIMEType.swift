// SPDX-License-Identifier: MIT

import Foundation

extension Request {
    /// A media type as validation compares it: type and subtype as written, without parameters. The comparison is
    /// case-sensitive, as in Alamofire (RFC 9110 §8.3.1 defines media types as case-insensitive).
    struct MIMEType: Hashable, Sendable {
        let type: String
        let subtype: String

        /// Whether it is `*/*`.
        var isWildcard: Bool { type == "*" && subtype == "*" }

        /// Parses `string` up to its first semicolon. Returns nil unless this text is two words separated by one slash.
        init?(_ string: String) {
            // `trimmingCharacters` is slow and seldom needed.
            let isTrimmed = Self.isVisible(string.utf8.first) && Self.isVisible(string.utf8.last)
            let trimmed = isTrimmed ? string : string.trimmingCharacters(in: .whitespacesAndNewlines)
            let words = trimmed.utf8.prefix { $0 != UInt8(ascii: ";") }
            guard let slash = words.firstIndex(of: UInt8(ascii: "/")),
                !words[words.index(after: slash)...].contains(UInt8(ascii: "/"))
            else { return nil }
            type = String(decoding: words[..<slash], as: UTF8.self)
            subtype = String(decoding: words[words.index(after: slash)...], as: UTF8.self)
        }

        /// Whether the octet is a visible ASCII character (0x21 to 0x7E). True for nil, because an empty text needs no trimming.
        private static func isVisible(_ octet: UInt8?) -> Bool {
            octet.map { (0x21...0x7E).contains($0) } ?? true
        }

        /// Whether `other`, the type of a response, matches this type. Only this type may contain wildcards.
        func matches(_ other: MIMEType) -> Bool {
            (type == "*" || type == other.type) && (subtype == "*" || subtype == other.subtype)
        }
    }
}
