// SPDX-License-Identifier: MIT

/// One row of `OptionTable`: an option with its names, its argument and its description.
struct Option: Sendable {
    /// The argument of an option.
    enum Argument: Hashable, Sendable {
        /// No argument.
        case none
        /// A value; the text is its name in the help.
        case value(String)
        /// One of these words after an equals sign, or nothing.
        case optional([String])
        /// One of these words.
        case oneOf([String])
        /// A file path; the text is its name in the help.
        case file(String)
    }

    /// The chapter of the manual.
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
    /// The short name; curl's, if curl has one.
    let short: Character?
    /// The long names; the first one is shown.
    let longNames: [String]
    /// The option's argument.
    let argument: Argument
    /// The chapter of the manual.
    let chapter: Chapter
    /// A one-line description.
    let brief: String
    /// Further details.
    let details: String

    init(
        _ name: OptionName, _ short: Character?, _ longNames: [String], _ argument: Argument,
        _ chapter: Chapter, _ brief: String, _ details: String = ""
    ) {
        self.name = name
        self.short = short
        self.longNames = longNames
        self.argument = argument
        self.chapter = chapter
        self.brief = brief
        self.details = details
    }

    /// The names and the argument, such as `-X, --request METHOD`.
    var synopsis: String {
        let names = (short.map { ["-\($0)"] } ?? []) + longNames.map { "--\($0)" }
        switch argument {
        case .none: return names.joined(separator: ", ")
        case .value(let word), .file(let word): return names.joined(separator: ", ") + " \(word)"
        case .oneOf(let words): return names.joined(separator: ", ") + " \(words.joined(separator: "|"))"
        case .optional(let words): return names.joined(separator: ", ") + "[=\(words.joined(separator: "|"))]"
        }
    }

    /// The shortest name with its dashes, for errors.
    var shownName: String { short.map { "-\($0)" } ?? "--\(longNames.first ?? name.rawValue)" }
}
