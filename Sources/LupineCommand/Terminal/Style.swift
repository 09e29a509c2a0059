// SPDX-License-Identifier: MIT

/// Colours for one sink, or none. A value.
struct Style: Sendable {
    /// What a piece of text is.
    enum Ink: String, Sendable {
        case name = "36"
        case string = "32"
        case number = "33"
        case word = "35"
        case faint = "2"
        case strong = "1"
        case good = "1;32"
        case change = "1;33"
        case bad = "1;31"
    }

    let isOn: Bool

    /// The text in that ink.
    func paint(_ text: String, _ ink: Ink) -> String {
        isOn && !text.isEmpty ? "\u{1B}[\(ink.rawValue)m\(text)\u{1B}[0m" : text
    }

    /// The ink of a status.
    static func ink(status: Int) -> Ink {
        switch status {
        case ..<300: .good
        case ..<400: .change
        default: .bad
        }
    }

    /// Text from outside that must not command the terminal: control characters are shown as escapes.
    static func harmless(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        var shown = ""
        for scalar in text.unicodeScalars {
            shown += isControl(scalar) ? "\\u{\(String(scalar.value, radix: 16))}" : String(scalar)
        }
        return shown
    }

    /// The same for text of several lines.
    static func harmlessLines(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { harmless(String($0)) }
            .joined(separator: "\n")
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        (scalar.value < 0x20 && scalar != "\t") || (0x7F...0x9F).contains(scalar.value)
    }
}
