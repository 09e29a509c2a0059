// SPDX-License-Identifier: MIT

/// Quotes words for a POSIX shell (POSIX.1-2024, Shell Command Language §2.2).
///
/// The functions compare Unicode scalars, not characters: a quote followed by a combining mark is one character, but a shell sees
/// a quote.
enum ShellWord {
    /// Returns the text in double quotes. A backslash escapes each character that is special there: the double quote, `$`, the
    /// backtick, and a backslash for which `needsBackslash` returns true.
    ///
    /// A newline is not escaped, because a shell deletes a backslash together with the newline after it. A `!` is written in
    /// single quotes, between two strings in double quotes. Even in double quotes, an interactive shell would replace the `!` and
    /// the word after it with a command from its history.
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

    /// Whether the scalar needs a backslash before it, given the scalar that follows; nil at the end of the text. A backslash is
    /// only special before certain scalars, and before the closing quote.
    private static func needsBackslash(_ scalar: Unicode.Scalar, before next: Unicode.Scalar?) -> Bool {
        switch scalar {
        case "\"", "$", "`": return true
        case "\\":
            // A `!` is among these scalars, because `quoted` writes a closing quote before it.
            guard let next else { return true }
            return ["\"", "$", "`", "\\", "\n", "!"].contains(next)
        default: return false
        }
    }

    /// Returns the text unchanged if a shell treats none of its characters specially, otherwise in double quotes.
    static func quotedIfNeeded(_ text: String) -> String {
        let isPlain = text.unicodeScalars.allSatisfy { scalar in
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9", "-", "_", ".", "/", ":", ",", "@", "%", "+": true
            default: false
            }
        }
        return isPlain && !text.isEmpty ? text : quoted(text)
    }
}
