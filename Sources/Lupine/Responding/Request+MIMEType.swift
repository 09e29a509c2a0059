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

        /// Parses `string` up to its first semicolon; nil unless that is two words separated by one slash.
        init?(_ string: String) {
            let trimmed = string.trimmingCharacters(in: .whitespacesAndNewlines)
            let words = trimmed.prefix { $0 != ";" }.split(separator: "/", omittingEmptySubsequences: false)
            guard words.count == 2, let type = words.first, let subtype = words.last else { return nil }
            self.type = String(type)
            self.subtype = String(subtype)
        }

        /// Whether `other`, the type of a response, matches this type. Only this type may contain wildcards.
        func matches(_ other: MIMEType) -> Bool {
            (type == "*" || type == other.type) && (subtype == "*" || subtype == other.subtype)
        }
    }
}
