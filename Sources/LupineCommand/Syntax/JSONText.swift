// SPDX-License-Identifier: MIT

/// Builds and validates JSON text (RFC 8259). The text is never decoded, so that the digits of numbers and the order of members
/// do not change.
enum JSONText {
    /// Returns a text as a JSON string, with quotes and escapes.
    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where scalar.value < 0x20:
                // Another control character: `\u` and four hexadecimal digits.
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    /// Returns the text of an object with these members, in this order. The values of the members are JSON text.
    static func object(_ members: [(name: String, json: String)]) -> String {
        "{" + members.map { "\(quoted($0.name)): \($0.json)" }.joined(separator: ", ") + "}"
    }

    /// Returns whether the bytes are one JSON value, with or without white space around it.
    static func isValid(_ bytes: [UInt8]) -> Bool {
        var scanner = JSONScanner()
        for byte in bytes {
            if scanner.scan(byte) == .invalid { return false }
        }
        return scanner.isComplete
    }
}
