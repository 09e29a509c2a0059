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
    func paint(_ text: TerminalText, _ ink: Ink) -> TerminalText {
        isOn && !text.isEmpty ? TerminalText(own: begin(ink)) + text + TerminalText(own: end) : text
    }

    /// Text of somebody else's in that ink, as one line.
    func paint(_ text: String, _ ink: Ink) -> TerminalText { paint("\(text)" as TerminalText, ink) }

    /// What has an ink begin; nothing without colours.
    func begin(_ ink: Ink) -> String { isOn ? "\u{1B}[\(ink.rawValue)m" : "" }

    /// What has it end.
    var end: String { isOn ? "\u{1B}[0m" : "" }

    /// The ink of a status.
    static func ink(status: Int) -> Ink {
        switch status {
        case ..<300: .good
        case ..<400: .change
        default: .bad
        }
    }
}
