// SPDX-License-Identifier: MIT

/// The colours of one sink, or none.
struct Style: Sendable {
    /// The role of a text. The raw value is the parameters of the escape sequence Select Graphic Rendition (SGR), which set the
    /// colour.
    enum Ink: String, Sendable {
        /// A field name or the name of a JSON member: cyan.
        case name = "36"
        /// A JSON string: green.
        case string = "32"
        /// A JSON number: yellow.
        case number = "33"
        /// `true`, `false` and `null` in JSON: magenta.
        case word = "35"
        /// A detail.
        case faint = "2"
        /// Bold.
        case strong = "1"
        /// A success: bold green.
        case good = "1;32"
        /// A redirect: bold yellow.
        case change = "1;33"
        /// A failure: bold red.
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
