// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// Leaves out of a log what must not stand there: credentials in header fields and in URLs, wherever in a text.
///
/// Not for texts that programs read: the result is for people. It knows credentials by the names under which they stand; one
/// that is part of a path, or stands under another name, is not known. Pure; any thread.
package enum LogRedaction {
    /// What stands in the place of a credential.
    package static let mark = "[redacted]"

    /// Header fields that are credentials whatever their value is: the usual ones, and those by which services take keys and tokens.
    /// Lower case.
    package static let fields = Set(["authorization", "proxy-authorization", "cookie", "set-cookie"])
        .union(RedirectMove.sensitiveByDefault.map { $0.lowercased() })
    /// A name that contains one of these is a credential's. Lower case, without `-` and `_`.
    private static let words = [
        "token", "password", "passwd", "passphrase", "pwd", "secret", "key", "credential", "signature",
        "apikey",
    ]

    /// The value of a header field, or the mark.
    ///
    /// - Parameters:
    ///   - value: What the field has.
    ///   - name: The field's name, in any mix of cases.
    ///   - others: Names that the program has said to be credentials', in lower case.
    package static func value(_ value: String, ofField name: String, or others: Set<String> = []) -> String {
        let small = name.lowercased()
        return fields.contains(small) || others.contains(small) || isSecret(name) ? mark : value
    }

    /// Whether a value of that name is a credential; of a name that takes long to look at that is taken for granted. `others` are
    /// names of credentials besides, in lower case.
    package static func isSecret(_ name: String, or others: Set<String> = []) -> Bool {
        guard name.utf8.count <= 1_024 else { return true }
        let small = (name.removingPercentEncoding ?? name).lowercased()
        if others.contains(small) { return true }
        let plain = small.replacing("-", with: "").replacing("_", with: "")
        return words.contains { plain.contains($0) }
    }

    /// The text as one line: URLs in it without credentials, and line ends and other control characters as escapes, so
    /// that nothing that came from outside looks like a line of its own. `others` are names of query items that are credentials
    /// besides, in lower case.
    package static func line(_ text: String, or others: Set<String> = []) -> String {
        printable(withoutQuerySecrets(withoutUserInfo(text), others))
    }

    /// The text with line ends, other control characters and those that turn its direction as escapes.
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

    /// `https://name:password@host` as `https://[redacted]@host`, and so without a scheme in front.
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

    /// Whether two slashes behind that are part of a path.
    private static func endsInPath(_ text: [Unicode.Scalar]) -> Bool {
        guard let last = text.last else { return false }
        // A colon may be in escapes.
        let end = text.suffix(3)
        if end.elementsEqual("%3A".unicodeScalars) || end.elementsEqual("%3a".unicodeScalars) { return false }
        return last.properties.isAlphabetic || last.properties.numericType != nil
            || "-._~!$*+/)@%".unicodeScalars.contains(last)
    }

    /// `?token=…&page=2` as `?token=[redacted]&page=2`; the same behind a `#`.
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
            // Not at a `;`: it may be a part of the value.
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
