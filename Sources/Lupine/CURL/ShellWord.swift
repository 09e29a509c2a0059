// SPDX-License-Identifier: MIT

/// Quotes words for a POSIX shell (POSIX.1-2024, Shell Command Language §2.2).
///
/// The functions compare Unicode scalars, not characters: a quote followed by a combining mark is one character, but a shell sees
/// a quote.
enum ShellWord {
    /// Returns the text in double quotes. Everything that a shell treats specially there is escaped: the quote itself, `$`, the
    /// backtick, and a backslash before any of these, before another backslash, a newline, a `!` or the closing quote. A newline
    /// is not escaped, since a shell deletes a backslash together with the newline after it. A `!` is moved out of the double
    /// quotes into single quotes: interactive shells expand it and the word after it from their history, even in double quotes.
    static func quoted(_ text: String) -> String {
        let scalars = Array(text.unicodeScalars)
        var word = "\""
        for (index, scalar) in scalars.enumerated() {
            if needsBackslash(scalar, before: index + 1 < scalars.count ? scalars[index + 1] : nil) {
                word.unicodeScalars.append("\\")
            }
            if scalar == "!" {
                word += "\"'!'\""
            } else {
                word.unicodeScalars.append(scalar)
            }
        }
        return word + "\""
    }

    private static func needsBackslash(_ scalar: Unicode.Scalar, before next: Unicode.Scalar?) -> Bool {
        switch scalar {
        case "\"", "$", "`": return true
        case "\\":
            guard let next else { return true }
            return ["\"", "$", "`", "\\", "\n", "!"].contains(next)
        default: return false
        }
    }

    /// Returns the text unchanged if nothing in it is special to a shell, otherwise in double quotes.
    static func bare(_ text: String) -> String {
        let isPlain = text.unicodeScalars.allSatisfy { scalar in
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9", "-", "_", ".", "/", ":", ",", "@", "%", "+": true
            default: false
            }
        }
        return isPlain && !text.isEmpty ? text : quoted(text)
    }
}
