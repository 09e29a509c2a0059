// SPDX-License-Identifier: MIT

/// A `Content-Range` in bytes (RFC 9110 §14.4), with two leniencies: some servers name the byte behind the last one, so that the
/// end may be the total; and some say of a range without bytes that it ends before it starts.
package struct ContentRange: Hashable {
    /// The first byte; nil in an answer that sends none.
    package let start: Int64?
    /// The last byte, or the one behind it; nil in an answer that sends none.
    package let end: Int64?
    /// The length of the whole; nil for an asterisk.
    package let total: Int64?

    /// Reads the field's value; nil when it is none.
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
            // So that there is a byte behind it.
            number < .max
        else { return nil }
        return number
    }
}
