// SPDX-License-Identifier: MIT

/// Parses numbers on a command line. Values far above any sensible one are invalid.
enum Quantity {
    /// Returns the bytes of a rate or a size such as `100`, `100k`, `1.5M` or `2G`, in powers of 1024 as in curl. Nil if the text
    /// is invalid or means less than one byte.
    static func bytes(_ text: String) -> Int? {
        var digits = Substring(text)
        var bytesPerUnit = 1.0
        if let letter = text.last, letter.isLetter {
            switch letter.lowercased() {
            case "b": bytesPerUnit = 1
            case "k": bytesPerUnit = 1024
            case "m": bytesPerUnit = 1024 * 1024
            case "g": bytesPerUnit = 1024 * 1024 * 1024
            default: return nil
            }
            digits = digits.dropLast()
        }
        // `Double` would also parse a sign, `inf` and `nan`.
        guard let first = digits.first, first.isNumber, let number = Double(digits) else { return nil }
        let bytes = number * bytesPerUnit
        // A `Double` represents every integer below this limit exactly.
        return bytes >= 1 && bytes < 9e15 ? Int(bytes) : nil
    }

    /// Returns seconds, possibly with a fraction. Nil if the text is invalid or means a billion seconds or more.
    static func seconds(_ text: String) -> Double? {
        // `Double` would also parse a sign, `inf` and `nan`.
        guard let first = text.first, first.isNumber || first == ".", let seconds = Double(text),
            seconds.isFinite,
            seconds < 1e9
        else { return nil }
        return seconds
    }

    /// Returns a non-negative integer. Nil if the text is invalid or means 2^40 or more.
    static func count(_ text: String) -> Int? {
        guard !text.isEmpty, text.allSatisfy({ $0.isASCII && $0.isNumber }), let count = Int(text),
            count < 1 << 40
        else { return nil }
        return count
    }
}
