// SPDX-License-Identifier: MIT

/// The value of a `Content-Range` field in bytes (RFC 9110 §14.4). The parser tolerates two errors of servers: a range whose end
/// is the position after the last byte, and an empty range, which ends one byte before its start.
package struct ContentRange: Hashable {
    /// The position of the first byte; nil for an unsatisfied range (`*`).
    package let start: Int64?
    /// The position of the last byte, or of the byte after it; nil for an unsatisfied range (`*`).
    package let end: Int64?
    /// The total length; nil if it is unknown (`*`).
    package let total: Int64?

    /// Parses the field's value; returns nil if it is invalid.
    package init?(_ text: String) {
        let words = text.split(whereSeparator: { $0 == " " || $0 == "\t" })
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let halves = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2 else { return nil }
        if halves[1] == "*" {
            total = nil
        } else {
            guard let number = Self.number(halves[1]) else { return nil }
            total = number
        }
        if halves[0] == "*" {
            (start, end) = (nil, nil)
            return
        }
        let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]),
            // Tolerates an empty range, which ends one byte before its start, and an end that is equal to the total.
            first <= last + 1, max(first, last) <= total ?? .max
        else { return nil }
        (start, end) = (first, last)
    }

    /// Parses a decimal number; returns nil for other text, and for `Int64.max`.
    private static func number(_ text: Substring) -> Int64? {
        // `Int64.init` would also accept a sign.
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard !text.isEmpty, text.utf8.allSatisfy({ digits ~= $0 }), let number = Int64(text),
            // Excludes the largest number, so that adding one does not overflow.
            number < .max
        else { return nil }
        return number
    }
}
