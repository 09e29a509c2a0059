// SPDX-License-Identifier: MIT

/// Builds and validates JSON text (RFC 8259). The text is never decoded, so that numbers and the order of members stay as they
/// are.
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
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    /// Returns an object with these members, in this order.
    static func object(_ members: [(name: String, json: String)]) -> String {
        "{" + members.map { "\(quoted($0.name)): \($0.json)" }.joined(separator: ", ") + "}"
    }

    /// Whether the bytes are one JSON value.
    static func isValid(_ bytes: [UInt8]) -> Bool {
        var scanner = JSONScanner()
        for byte in bytes {
            if scanner.scan(byte) == .invalid { return false }
        }
        return scanner.isComplete
    }
}
