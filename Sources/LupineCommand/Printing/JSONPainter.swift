// SPDX-License-Identifier: MIT

/// JSON for people: line ends and colours, nothing else changed. What is no JSON is not painted.
struct JSONPainter: Sendable {
    let style: Style
    let breaksLines: Bool

    /// The text; nil when it is no JSON.
    func painted(_ bytes: [UInt8]) -> String? {
        var scanner = JSONScanner(bytes)
        var text = ""
        var depth = 0
        var previous: JSONScanner.Token?
        func slice(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
        while let token = scanner.next() {
            let breaks = breaksLines ? "\n" + String(repeating: "    ", count: depth) : ""
            switch token {
            case .broken: return nil
            case .open(let byte):
                text += lead(previous, breaks) + String(UnicodeScalar(byte))
                depth += 1
            case .close(let byte):
                depth -= 1
                if case .open = previous {
                } else if breaksLines {
                    text += "\n" + String(repeating: "    ", count: depth)
                }
                text += String(UnicodeScalar(byte))
            case .comma: text += breaksLines ? "," : ", "
            case .colon: text += ": "
            case .name(let range): text += lead(previous, breaks) + style.paint(slice(range), .name)
            case .string(let range):
                text += lead(previous, breaks) + style.paint(Style.harmless(slice(range)), .string)
            case .number(let range): text += lead(previous, breaks) + style.paint(slice(range), .number)
            case .word(let range): text += lead(previous, breaks) + style.paint(slice(range), .word)
            }
            previous = token
        }
        return text
    }

    /// What stands before a value or a name: the line's end behind a bracket or a comma.
    private func lead(_ previous: JSONScanner.Token?, _ breaks: String) -> String {
        switch previous {
        case .open?, .comma?: breaks
        default: ""
        }
    }
}
