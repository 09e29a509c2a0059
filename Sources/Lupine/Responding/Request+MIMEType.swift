// SPDX-License-Identifier: MIT

import Foundation

extension Request {
    /// A media type as validation compares them: type and subtype as they are written, without parameters. The
    /// comparison is of letters as they stand, as the inherited rules want it (RFC 9110 §8.3.1 would fold their case).
    struct MIMEType: Hashable, Sendable {
        let type: String
        let subtype: String

        /// Whether it is `*/*`.
        var isWildcard: Bool { type == "*" && subtype == "*" }

        /// What `string` spells before its first semicolon; nil unless that is two words around one slash.
        init?(_ string: String) {
            let trimmed = string.trimmingCharacters(in: .whitespacesAndNewlines)
            let words = trimmed.prefix { $0 != ";" }.split(separator: "/", omittingEmptySubsequences: false)
            guard words.count == 2, let type = words.first, let subtype = words.last else { return nil }
            self.type = String(type)
            self.subtype = String(subtype)
        }

        /// Whether a response of type `other` is one of these. Only the receiver's words may be wildcards.
        func matches(_ other: MIMEType) -> Bool {
            (type == "*" || type == other.type) && (subtype == "*" || subtype == other.subtype)
        }
    }
}
