// SPDX-License-Identifier: MIT

/// One row of `OptionTable`: an option with its names, its argument and its description.
struct Option: Sendable {
    /// The kind of value that an option has.
    enum Argument: Hashable, Sendable {
        /// No value.
        case none
        /// Any value. The text stands for it in the help, such as `METHOD`.
        case value(String)
        /// One of these words after an equals sign, as in `--timing=json`, or no value.
        case optional([String])
        /// One of these words.
        case oneOf([String])
        /// The path of a file or folder. The text stands for it in the help, such as `FILE`.
        case file(String)
    }

    /// A chapter of the manual. The raw value is its title.
    enum Chapter: String, CaseIterable, Sendable {
        case request = "What is sent"
        case identity = "Who asks"
        case network = "How it gets there"
        case security = "TLS"
        case output = "What is printed"
        case reports = "What else is told"
    }

    /// The case that identifies the option.
    let name: OptionName
    /// The letter of the short form, such as `X` for `-X`; nil if there is none. If curl has the option, the letter is
    /// curl's.
    let shortName: Character?
    /// The long names without dashes. The first one is the preferred name.
    let longNames: [String]
    /// The kind of value that the option has.
    let argument: Argument
    /// The chapter of the manual that describes the option.
    let chapter: Chapter
    /// The description on one line, without a capital at its beginning and a full stop at its end.
    let summary: String
    /// Further sentences for the manual; empty if there are none.
    let details: String

    init(
        _ name: OptionName, short shortName: Character? = nil, _ longNames: [String], _ argument: Argument,
        _ chapter: Chapter, _ summary: String, _ details: String = ""
    ) {
        self.name = name
        self.shortName = shortName
        self.longNames = longNames
        self.argument = argument
        self.chapter = chapter
        self.summary = summary
        self.details = details
    }

    /// All names with their dashes, the short one first.
    var allNames: [String] { (shortName.map { ["-\($0)"] } ?? []) + longNames.map { "--\($0)" } }

    /// All names and the value, such as `-X, --request METHOD`.
    var synopsis: String {
        let names = allNames.joined(separator: ", ")
        return switch argument {
        case .none: names
        case .value(let word), .file(let word): "\(names) \(word)"
        case .oneOf(let words): "\(names) \(words.joined(separator: "|"))"
        case .optional(let words): "\(names)[=\(words.joined(separator: "|"))]"
        }
    }

    /// The name in errors, with its dashes: the short one, or else the preferred long one.
    var shownName: String { shortName.map { "-\($0)" } ?? "--\(longNames.first ?? name.rawValue)" }
}
