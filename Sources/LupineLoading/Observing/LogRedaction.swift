// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// Replaces credentials in texts that are written to a log: in the values of header fields, and in URLs anywhere in a text.
///
/// The result is meant for people, not for programs. Credentials are recognized by their names, so a credential in a path, or
/// with an unusual name, is not recognized. The functions have no side effects; any thread may call them.
package enum LogRedaction {
    /// The text that replaces a credential.
    package static let mark = "[redacted]"

    /// The header fields whose values are always credentials, in lowercase: the standard ones, and those in which services accept
    /// keys and tokens.
    package static let fields = Set(["authorization", "proxy-authorization", "cookie", "set-cookie"])
        .union(RedirectMove.sensitiveByDefault.map { $0.lowercased() })
    /// Words in lowercase. A name that contains one of them, after `-` and `_` were removed, is that of a credential.
    private static let secretWords = [
        "token", "password", "passwd", "passphrase", "pwd", "secret", "key", "credential", "signature",
        "apikey",
    ]

    /// Returns the value of a header field, or `mark` if it is a credential.
    ///
    /// - Parameters:
    ///   - value: The value of the field.
    ///   - name: The name of the field, in any case.
    ///   - others: The names of further credentials, given by the program, in lowercase.
    package static func value(_ value: String, ofField name: String, or others: Set<String> = []) -> String {
        let lowercased = name.lowercased()
        let isCredential = fields.contains(lowercased) || others.contains(lowercased) || isSecret(name)
        return isCredential ? mark : value
    }

    /// Whether a value with this name is a credential. Returns true for names that are too long to examine. `others` are the
    /// names of further credentials, in lowercase.
    package static func isSecret(_ name: String, or others: Set<String> = []) -> Bool {
        // Limits the work for a name that a peer has chosen.
        guard name.utf8.count <= 1_024 else { return true }
        let lowercased = (name.removingPercentEncoding ?? name).lowercased()
        if others.contains(lowercased) { return true }
        let withoutSeparators = lowercased.replacing("-", with: "").replacing("_", with: "")
        return secretWords.contains { withoutSeparators.contains($0) }
    }

    /// Returns the text as one line, with credentials in URLs replaced. Escapes line ends and other control characters, so that a
    /// peer's text cannot forge log lines. `others` are the names of further query items that are credentials, in
    /// lowercase.
    package static func line(_ text: String, or others: Set<String> = []) -> String {
        printable(withoutQuerySecrets(withoutUserInfo(text), others))
    }

    /// Returns the text with control characters, line ends, and characters that change the writing direction escaped.
    package static func printable(_ text: String) -> String {
        var line = ""
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: line += scalar.escaped(asASCII: true)
            default: line.unicodeScalars.append(scalar)
            }
        }
        return line
    }

    /// Replaces the user information of URLs, even of those without a scheme: `https://name:password@host` becomes
    /// `https://[redacted]@host`.
    package static func withoutUserInfo(_ text: String) -> String {
        var result: [Unicode.Scalar] = []
        var remaining = Array(text.unicodeScalars)[...]
        while let slashes = remaining.firstRange(of: Array("//".unicodeScalars)) {
            result += remaining[..<slashes.lowerBound]
            let isInPath = endsInPath(result)
            result += remaining[slashes]
            remaining = remaining[slashes.upperBound...]
            if isInPath { continue }
            // The user information ends at the last `@` of the authority.
            if let at = remaining.prefix(while: { !endsAuthority($0) }).lastIndex(of: "@") {
                result += mark.unicodeScalars
                remaining = remaining[at...]
            }
        }
        return String(String.UnicodeScalarView(result + remaining))
    }

    /// Whether two slashes after this text are part of a path, and do not begin the authority of a URL.
    private static func endsInPath(_ text: [Unicode.Scalar]) -> Bool {
        guard let last = text.last else { return false }
        // A URL in a query may have a percent-encoded colon after its scheme.
        let lastThree = text.suffix(3)
        let isEncodedColon =
            lastThree.elementsEqual("%3A".unicodeScalars) || lastThree.elementsEqual("%3a".unicodeScalars)
        if isEncodedColon { return false }
        // After these characters of a path, two slashes continue the path. After any other character, such as a colon or a
        // bracket, they begin an authority.
        return last.properties.isAlphabetic || last.properties.numericType != nil
            || "-._~!$*+/)@%".unicodeScalars.contains(last)
    }

    /// Replaces credentials in queries and fragments: `?token=…&page=2` becomes `?token=[redacted]&page=2`.
    private static func withoutQuerySecrets(_ text: String, _ others: Set<String>) -> String {
        var result: [Unicode.Scalar] = []
        var remaining = Array(text.unicodeScalars)[...]
        while let start = remaining.firstIndex(where: startsItem) {
            result += remaining[...start]
            remaining = remaining[start...].dropFirst()
            let name = remaining.prefix { !endsItem($0) && $0 != "=" }
            guard remaining[name.endIndex...].first == "=",
                isSecret(String(String.UnicodeScalarView(name)), or: others)
            else { continue }
            result += name
            result += "=\(mark)".unicodeScalars
            // A `;` may be part of the value, so the value does not end there.
            remaining = remaining[name.endIndex...].dropFirst()
                .drop { $0 != "&" && $0 != "#" && !endsURL($0) }
        }
        return String(String.UnicodeScalarView(result + remaining))
    }

    /// Whether an item of a query or fragment, `name=value`, begins after this character.
    private static func startsItem(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "?" || scalar == "&" || scalar == ";" || scalar == "#"
    }

    /// Whether an item of a query or fragment ends before this character.
    private static func endsItem(_ scalar: Unicode.Scalar) -> Bool {
        startsItem(scalar) || endsURL(scalar)
    }

    /// Whether the authority of a URL ends before this character.
    private static func endsAuthority(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "/" || scalar == "?" || scalar == "#" || endsURL(scalar)
    }

    /// Whether a URL in a text ends before this character.
    private static func endsURL(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isWhitespace || scalar == "\"" || scalar == "<" || scalar == ">" || scalar == "`"
    }
}
