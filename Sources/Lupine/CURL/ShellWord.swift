// SPDX-License-Identifier: MIT

/// Quotes words for a POSIX shell (POSIX.1-2024, Shell Command Language §2.2).
///
/// Scalars are compared, not characters: a quote followed by a combining mark is one character, and still ends the quoting for a
/// shell.
enum ShellWord {
    /// Returns the text in double quotes. Everything that is special there is escaped: the quote itself, `$`, the backtick, and a
    /// backslash before any of these, before another backslash, a newline or a closing quote. A newline is kept as it is, since a
    /// backslash before it would delete it. A `!` is put in single quotes of its own: interactive shells replace it and what
    /// follows with a line of their history, even in double quotes.
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
