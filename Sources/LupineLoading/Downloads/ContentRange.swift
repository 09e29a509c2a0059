// SPDX-License-Identifier: MIT

/// A `Content-Range` in bytes (RFC 9110 §14.4), parsed with two tolerances: some servers state the position after the last byte,
/// so the end may equal the total; and some state an empty range as one that ends before it starts.
package struct ContentRange: Hashable {
    /// The first byte; nil in a response without a range.
    package let start: Int64?
    /// The last byte, or the one after it; nil in a response without a range.
    package let end: Int64?
    /// The total length; nil for an asterisk.
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
            first <= last + 1, max(first, last) <= total ?? .max
        else { return nil }
        (start, end) = (first, last)
    }

    private static func number(_ text: Substring) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let number = Int64(text),
            // So that adding one does not overflow.
            number < .max
        else { return nil }
        return number
    }
}
