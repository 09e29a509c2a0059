// SPDX-License-Identifier: MIT

/// Writes JSON (RFC 8259) as httpbin does: indented by two spaces per level, with a line end after the document.
struct JSONWriter {
    private var output: [UInt8] = []
    private static let hexadecimalDigits = Array("0123456789abcdef".utf8)

    /// Returns the octets of a document.
    static func document(_ value: JSON) -> [UInt8] {
        var writer = JSONWriter()
        writer.output.reserveCapacity(512)
        writer.write(value, level: 0)
        writer.output.append(UInt8(ascii: "\n"))
        return writer.output
    }

    /// Returns the octets of a document on one line, including the line end.
    static func line(_ value: JSON) -> [UInt8] {
        var writer = JSONWriter()
        writer.write(value, level: nil)
        writer.output.append(UInt8(ascii: "\n"))
        return writer.output
    }

    /// Writes a value that is nested in `level` arrays and objects. A nil `level` writes the value on one line.
    private mutating func write(_ value: JSON, level: Int?) {
        switch value {
        case .null: output += "null".utf8
        case .bool(let bool): output += (bool ? "true" : "false").utf8
        case .number(let number): output += String(number).utf8
        case .string(let text): writeString(text)
        case .verbatim(let bytes): output += bytes
        case .array(let elements):
            writeList(between: "[", and: "]", elements.count, level) { writer, index, level in
                writer.write(elements[index], level: level)
            }
        case .object(let members):
            writeList(between: "{", and: "}", members.count, level) { writer, index, level in
                writer.writeString(members[index].0)
                writer.output += ": ".utf8
                writer.write(members[index].1, level: level)
            }
        }
    }

    /// Writes `count` elements between brackets. `writeElement` writes the element at an index, nested in the level that it
    /// receives, or on one line if that is nil.
    private mutating func writeList(
        between openingBracket: StaticString, and closingBracket: StaticString, _ count: Int, _ level: Int?,
        _ writeElement: (_ writer: inout JSONWriter, _ index: Int, _ level: Int?) -> Void
    ) {
        output += openingBracket.description.utf8
        let innerLevel = level.map { $0 + 1 }
        for index in 0..<count {
            if index > 0 { output += (level == nil ? ", " : ",").utf8 }
            breakLine(innerLevel)
            writeElement(&self, index, innerLevel)
        }
        if count > 0 { breakLine(level) }
        output += closingBracket.description.utf8
    }

    /// Begins a line with the indentation of `level`. Has no effect if `level` is nil.
    private mutating func breakLine(_ level: Int?) {
        guard let level else { return }
        output.append(UInt8(ascii: "\n"))
        output += repeatElement(UInt8(ascii: " "), count: 2 * level)
    }

    /// Writes a string in quotation marks. Escapes quotation marks, backslashes and control characters.
    private mutating func writeString(_ text: String) {
        output.append(UInt8(ascii: "\""))
        for octet in text.utf8 {
            switch octet {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                output.append(UInt8(ascii: "\\"))
                output.append(octet)
            case UInt8(ascii: "\n"): output += "\\n".utf8
            case UInt8(ascii: "\r"): output += "\\r".utf8
            case UInt8(ascii: "\t"): output += "\\t".utf8
            // The other control characters.
            case 0..<0x20, 0x7f:
                output += "\\u00".utf8
                output.append(Self.hexadecimalDigits[Int(octet >> 4)])
                output.append(Self.hexadecimalDigits[Int(octet & 15)])
            default: output.append(octet)
            }
        }
        output.append(UInt8(ascii: "\""))
    }
}
