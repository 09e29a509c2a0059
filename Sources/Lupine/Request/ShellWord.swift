// SPDX-License-Identifier: MIT

/// Words as a POSIX shell reads them back (POSIX.1-2024, Shell Command Language §2.2).
///
/// Scalars are compared, not characters: a quote with a combining mark behind it is one character, and still ends the
/// quoting for a shell.
enum ShellWord {
    /// The text in double quotes. What would take effect there is escaped: the quote itself, `$`, the backtick, and a
    /// backslash in front of any of these, of another backslash, of a newline or of a closing quote. A newline stands as it
    /// is, since a backslash in front would delete it. A `!` stands in single quotes of its own: interactive shells replace it
    /// and what follows by a line of their history, in double quotes too.
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

    /// The text as it is where no shell finds anything in it, else in double quotes.
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
