// SPDX-License-Identifier: MIT

/// Parses numbers on a command line.
enum Quantity {
    /// Parses a rate or a size: `100`, `100k`, `1.5M`, `2G`, in powers of 1024 as in curl. Nil if it is invalid.
    static func bytes(_ text: String) -> Int? {
        var digits = Substring(text)
        var scale = 1.0
        if let letter = text.last, letter.isLetter {
            switch letter.lowercased() {
            case "b": scale = 1
            case "k": scale = 1024
            case "m": scale = 1_048_576
            case "g": scale = 1_073_741_824
            default: return nil
            }
            digits = digits.dropLast()
        }
        guard let first = digits.first, first.isNumber, let number = Double(digits) else { return nil }
        let value = number * scale
        return value >= 1 && value < 9e15 ? Int(value) : nil
    }

    /// Parses seconds, possibly with a fraction. Nil if the text is invalid.
    static func seconds(_ text: String) -> Double? {
        guard let first = text.first, first.isNumber || first == ".", let value = Double(text),
            value.isFinite,
            value < 1e9
        else { return nil }
        return value
    }

    /// Parses a non-negative integer. Nil if the text is invalid.
    static func count(_ text: String) -> Int? {
        guard !text.isEmpty, text.allSatisfy({ $0.isASCII && $0.isNumber }), let value = Int(text),
            value < 1 << 40
        else { return nil }
        return value
    }
}
