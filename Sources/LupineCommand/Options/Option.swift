// SPDX-License-Identifier: MIT

/// One row of the table of options: everything that parser, help, manual and completions know about it.
struct Option: Sendable {
    /// What follows a switch.
    enum Argument: Hashable, Sendable {
        /// Nothing.
        case none
        /// A value, called so.
        case value(String)
        /// One of these words, behind an equals sign, or nothing.
        case optional([String])
        /// One of these words.
        case oneOf([String])
        /// The path of a file, called so.
        case file(String)
    }

    /// The chapter of the manual that it stands in.
    enum Chapter: String, CaseIterable, Sendable {
        case request = "What is sent"
        case identity = "Who asks"
        case network = "How it gets there"
        case security = "TLS"
        case output = "What is printed"
        case reports = "What else is told"
    }

    /// Which switch it is.
    let name: OptionName
    /// Its letter; curl's, where curl has one.
    let short: Character?
    /// Its words, the first one being how it is shown.
    let longs: [String]
    /// What follows it.
    let argument: Argument
    /// Where the manual has it.
    let chapter: Chapter
    /// One line about it.
    let brief: String
    /// What there is to say beyond that.
    let details: String

    init(
        _ name: OptionName, _ short: Character?, _ longs: [String], _ argument: Argument, _ chapter: Chapter,
        _ brief: String, _ details: String = ""
    ) {
        self.name = name
        self.short = short
        self.longs = longs
        self.argument = argument
        self.chapter = chapter
        self.brief = brief
        self.details = details
    }

    /// How it is written: `-X, --request METHOD`.
    var synopsis: String {
        let names = (short.map { ["-\($0)"] } ?? []) + longs.map { "--\($0)" }
        switch argument {
        case .none: return names.joined(separator: ", ")
        case .value(let word), .file(let word): return names.joined(separator: ", ") + " \(word)"
        case .oneOf(let words): return names.joined(separator: ", ") + " \(words.joined(separator: "|"))"
        case .optional(let words): return names.joined(separator: ", ") + "[=\(words.joined(separator: "|"))]"
        }
    }

    /// Its shortest name with the dash, as errors show it.
    var shown: String { short.map { "-\($0)" } ?? "--\(longs.first ?? name.rawValue)" }
}
