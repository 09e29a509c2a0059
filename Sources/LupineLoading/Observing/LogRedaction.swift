// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// Removes credentials in header fields and URLs from texts for a log, wherever they are in the text.
///
/// The result is for people, not for programs. Credentials are recognized by their names; one that is part of a path, or has
/// another name, is not recognized. Pure; any thread may use it.
package enum LogRedaction {
    /// The text that replaces a credential.
    package static let mark = "[redacted]"

    /// Header fields whose values are always credentials: the standard ones, and those in which services accept keys and tokens.
    /// In lowercase.
    package static let fields = Set(["authorization", "proxy-authorization", "cookie", "set-cookie"])
        .union(RedirectMove.sensitiveByDefault.map { $0.lowercased() })
    /// A name that contains one of these words is a credential's. In lowercase, without `-` and `_`.
    private static let words = [
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
        let small = name.lowercased()
        return fields.contains(small) || others.contains(small) || isSecret(name) ? mark : value
    }

    /// Whether a value with this name is a credential; assumed for names that are too long to examine. `others` are the names of
    /// further credentials, in lowercase.
    package static func isSecret(_ name: String, or others: Set<String> = []) -> Bool {
        guard name.utf8.count <= 1_024 else { return true }
        let small = (name.removingPercentEncoding ?? name).lowercased()
        if others.contains(small) { return true }
        let plain = small.replacing("-", with: "").replacing("_", with: "")
        return words.contains { plain.contains($0) }
    }

    /// Returns the text as one line, with credentials in URLs replaced, and with line ends and other control characters escaped,
    /// so that text from outside cannot forge log lines. `others` are the names of further query items that are credentials, in
    /// lowercase.
    package static func line(_ text: String, or others: Set<String> = []) -> String {
        printable(withoutQuerySecrets(withoutUserInfo(text), others))
    }

    /// Returns the text with line ends, other control characters and characters that change its direction escaped.
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

    /// Replaces user information: `https://name:password@host` becomes `https://[redacted]@host`; also without a scheme.
    package static func withoutUserInfo(_ text: String) -> String {
        var result: [Unicode.Scalar] = []
        var rest = Array(text.unicodeScalars)[...]
        while let slashes = rest.firstRange(of: Array("//".unicodeScalars)) {
            result += rest[..<slashes.lowerBound]
            let isInPath = endsInPath(result)
            result += rest[slashes]
            rest = rest[slashes.upperBound...]
            if isInPath { continue }
            if let at = rest.prefix(while: { !endsAuthority($0) }).lastIndex(of: "@") {
                result += mark.unicodeScalars
                rest = rest[at...]
            }
        }
        return String(String.UnicodeScalarView(result + rest))
    }

    /// Whether two slashes after this text are part of a path.
    private static func endsInPath(_ text: [Unicode.Scalar]) -> Bool {
        guard let last = text.last else { return false }
        // The colon of a scheme may be percent-encoded.
        let end = text.suffix(3)
        if end.elementsEqual("%3A".unicodeScalars) || end.elementsEqual("%3a".unicodeScalars) { return false }
        return last.properties.isAlphabetic || last.properties.numericType != nil
            || "-._~!$*+/)@%".unicodeScalars.contains(last)
    }

    /// Replaces credentials in queries: `?token=…&page=2` becomes `?token=[redacted]&page=2`; also after a `#`.
    private static func withoutQuerySecrets(_ text: String, _ others: Set<String>) -> String {
        var result: [Unicode.Scalar] = []
        var rest = Array(text.unicodeScalars)[...]
        while let start = rest.firstIndex(where: startsItem) {
            result += rest[...start]
            rest = rest[start...].dropFirst()
            let name = rest.prefix { !endsItem($0) && $0 != "=" }
            guard rest[name.endIndex...].first == "=",
                isSecret(String(String.UnicodeScalarView(name)), or: others)
            else { continue }
            result += name
            result += "=\(mark)".unicodeScalars
            // A `;` does not end the value: it may be part of it.
            rest = rest[name.endIndex...].dropFirst().drop { $0 != "&" && $0 != "#" && !endsURL($0) }
        }
        return String(String.UnicodeScalarView(result + rest))
    }

    private static func startsItem(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "?" || scalar == "&" || scalar == ";" || scalar == "#"
    }

    private static func endsItem(_ scalar: Unicode.Scalar) -> Bool {
        startsItem(scalar) || endsURL(scalar)
    }

    private static func endsAuthority(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "/" || scalar == "?" || scalar == "#" || endsURL(scalar)
    }

    private static func endsURL(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isWhitespace || scalar == "\"" || scalar == "<" || scalar == ">" || scalar == "`"
    }
}
