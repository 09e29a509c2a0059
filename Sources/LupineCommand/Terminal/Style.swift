// SPDX-License-Identifier: MIT

/// The colours of one sink, or none.
struct Style: Sendable {
    /// The role of a piece of text, with its SGR parameters.
    enum Ink: String, Sendable {
        case name = "36"
        case string = "32"
        case number = "33"
        /// The colour of `true`, `false` and `null`.
        case word = "35"
        case faint = "2"
        case strong = "1"
        case good = "1;32"
        case change = "1;33"
        case bad = "1;31"
    }

    /// Whether colours are used.
    let isOn: Bool

    /// Returns the text in a colour.
    func paint(_ text: TerminalText, _ ink: Ink) -> TerminalText {
        isOn && !text.isEmpty ? TerminalText(trusted: begin(ink)) + text + TerminalText(trusted: end) : text
    }

    /// Returns untrusted text in a colour, as one line.
    func paint(_ text: String, _ ink: Ink) -> TerminalText { paint("\(text)" as TerminalText, ink) }

    /// The escape sequence that starts a colour; empty without colours.
    func begin(_ ink: Ink) -> String { isOn ? "\u{1B}[\(ink.rawValue)m" : "" }

    /// The escape sequence that ends a colour.
    var end: String { isOn ? "\u{1B}[0m" : "" }

    /// The colour of a status code.
    static func ink(status: Int) -> Ink {
        switch status {
        case ..<300: .good
        case ..<400: .change
        default: .bad
        }
    }
}
