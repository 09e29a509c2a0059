// SPDX-License-Identifier: MIT

/// Parses a command line. A pure function of the arguments: it does no I/O.
enum CommandLineReader {
    /// What a command line asks for.
    enum Action: Hashable, Sendable {
        case fetch(Invocation)
        /// Several requests, separated by --next.
        case series([Invocation])
        /// `--help`.
        case help
        /// `lupine help ITEM`.
        case explain(String?)
        case version
        case manual
        case completions(String)
        case serve([String])
        case demo([String])
    }

    /// Parses the arguments, which do not include the command's own name.
    static func read(_ arguments: [String]) throws(UsageError) -> Action {
        guard let first = arguments.first else {
            throw UsageError("a URL is missing: lupine [METHOD] URL [ITEM...] (lupine --help)")
        }
        let rest = Array(arguments.dropFirst())
        switch first {
        case "help": return .explain(rest.first)
        case "manual": return .manual
        case "version": return .version
        case "completions":
            guard let shell = rest.first, ["bash", "zsh", "fish"].contains(shell) else {
                throw UsageError("completions are there for bash, zsh and fish: lupine completions bash")
            }
            return .completions(shell)
        case "serve", "demo":
            if rest.contains("--help") || rest.contains("-h") { return .explain(first) }
            return first == "serve" ? .serve(rest) : .demo(rest)
        default: return try fetch(arguments)
        }
    }

    /// An argument that is neither an option nor an option's value; the values of --url are included, in order.
    private struct Word {
        let text: String
        var isURL = false
    }

    private static func fetch(_ arguments: [String]) throws(UsageError) -> Action {
        var invocation = Invocation()
        var done: [Invocation] = []
        var words: [Word] = []
        var rest = arguments[...]
        var takesSwitches = true
        while let argument = rest.popFirst() {
            if !takesSwitches || argument == "-" || !argument.hasPrefix("-") {
                words.append(Word(text: argument))
            } else if argument == "--" {
                takesSwitches = false
            } else {
                let found = argument.hasPrefix("--") ? try long(argument, &rest) : try short(argument, &rest)
                for (option, value) in found {
                    if option.name == .help { return .help }
                    if option.name == .version { return .version }
                    if option.name == .next {
                        done.append(try completed(invocation, words))
                        (invocation, words) = (invocation.successor(), [])
                    } else if option.name == .url {
                        words.append(Word(text: try Invocation.named(option, value), isURL: true))
                    } else if option.name == .json, let text = rest.first, isJSON(text, words) {
                        invocation.takeJSON(text)
                        rest = rest.dropFirst()
                    } else {
                        try invocation.take(option, value)
                    }
                }
            }
        }
        done.append(try completed(invocation, words))
        return done.count == 1 ? .fetch(done[0]) : .series(done)
    }

    private static func completed(
        _ invocation: Invocation, _ words: [Word]
    ) throws(UsageError) -> Invocation {
        var invocation = invocation
        try assign(words, to: &invocation)
        invocation.resolveCombinations()
        try InvocationCheck.check(invocation)
        return invocation
    }

    /// Whether the argument after --json is curl's DATA and not a URL or an item, since HTTPie's --json takes no value.
    private static func isJSON(_ text: String, _ words: [Word]) -> Bool {
        if text.hasPrefix("@") { return words.allSatisfy { $0.isURL || isMethod($0.text) } }
        return (text.hasPrefix("{") || text.hasPrefix("[")) && JSONText.isValid([UInt8](text.utf8))
    }

    // MARK: switches

    private static func long(
        _ argument: String, _ rest: inout ArraySlice<String>
    ) throws(UsageError) -> [(Option, String)] {
        let parts = argument.dropFirst(2).split(
            separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let word = String(parts[0])
        guard let option = OptionTable.option(long: word) else {
            if let answer = ForeignOption.answer(to: "--\(word)") { throw UsageError(answer) }
            let near = nearest(to: word).map { "; did you mean --\($0)?" } ?? ""
            throw UsageError("there is no option --\(word)\(near) (lupine help options)")
        }
        let value = parts.count == 2 ? String(parts[1]) : nil
        switch option.argument {
        case .none:
            if value != nil { throw UsageError("--\(word) takes no value: write it without `=`") }
            return [(option, "")]
        case .optional(let words):
            if let value, !words.contains(value) {
                throw UsageError("--\(word) takes \(words.joined(separator: " or ")), not `\(value)`")
            }
            return [(option, value ?? "")]
        case .value, .oneOf, .file:
            return [(option, try checked(option, value ?? rest.popFirst(), as: "--\(word)"))]
        }
    }

    /// Parses a short option, or several in one argument, of which the last may have a value.
    private static func short(
        _ argument: String, _ rest: inout ArraySlice<String>
    ) throws(UsageError) -> [(Option, String)] {
        var found: [(Option, String)] = []
        var letters = argument.dropFirst()
        while let letter = letters.popFirst() {
            guard let option = OptionTable.option(short: letter) else {
                throw UsageError(
                    ForeignOption.answer(to: "-\(letter)")
                        ?? "there is no option -\(letter) (lupine help options)")
            }
            switch option.argument {
            case .none, .optional: found.append((option, ""))
            case .value, .oneOf, .file:
                let value = letters.isEmpty ? rest.popFirst() : String(letters)
                found.append((option, try checked(option, value, as: "-\(letter)")))
                return found
            }
        }
        return found
    }

    private static func checked(
        _ option: Option, _ value: String?, as shown: String
    ) throws(UsageError) -> String {
        switch option.argument {
        case .value(let word), .file(let word):
            guard let value else { throw UsageError("\(shown) needs a value: \(shown) \(word)") }
            return value
        case .oneOf(let words):
            guard let value, words.contains(value) else {
                let given = value.map { ", not `\($0)`" } ?? ""
                throw UsageError("\(shown) needs one of \(words.joined(separator: ", "))\(given)")
            }
            return value
        case .none, .optional: return value ?? ""
        }
    }

    /// Returns the known option at an edit distance of at most two.
    private static func nearest(to word: String) -> String? {
        let known = OptionTable.all.flatMap(\.longs)
        let ranked = known.map { ($0, EditDistance.between(word, $0)) }.min { $0.1 < $1.1 }
        return ranked.flatMap { $0.1 <= 2 ? $0.0 : nil }
    }

    // MARK: the rest

    /// Parses `[METHOD] URL [ITEM...]`; a later argument with a scheme is another URL. The URLs, those of --url included, keep
    /// their order, by which -o is assigned.
    private static func assign(_ words: [Word], to invocation: inout Invocation) throws(UsageError) {
        let bare = words.filter { !$0.isURL }.map(\.text)
        let hasURL = bare.count < words.count
        guard let first = bare.first ?? words.first?.text else {
            let hint =
                invocation.raw == nil ? "" : "; --raw takes a body, and curl's --raw is --raw-encoding here"
            throw UsageError("a URL is missing: lupine [METHOD] URL [ITEM...]\(hint)")
        }
        if !bare.isEmpty, first.prefix(while: { !":/?#[".contains($0) }).contains("=") {
            throw UsageError(
                "`\(first)` stands where the URL belongs: items follow it; curl's --form NAME=CONTENT is -F here"
            )
        }
        var hasMethod = !bare.isEmpty && (bare.count > 1 || hasURL) && isMethod(first)
        if hasMethod {
            if let method = invocation.method, method != first.uppercased() {
                throw UsageError("there are two methods, \(first) and -X \(method): give one")
            }
            invocation.method = first.uppercased()
        }
        var needsURL = true
        for word in words {
            if word.isURL {
                invocation.urls.append(word.text)
            } else if hasMethod {
                hasMethod = false
            } else if needsURL || hasScheme(word.text) {
                needsURL = false
                invocation.urls.append(word.text)
            } else {
                invocation.items.append(try RequestItem(word.text))
            }
        }
    }

    /// Whether it consists of letters only and is either in capitals or a well-known method.
    private static func isMethod(_ word: String) -> Bool {
        let known = ["get", "head", "post", "put", "patch", "delete", "options", "trace"]
        return word.allSatisfy { $0.isASCII && $0.isLetter }
            && (word.allSatisfy(\.isUppercase) || known.contains(word.lowercased()))
    }

    /// Whether it begins with a scheme that the command can load.
    static func hasScheme(_ word: String) -> Bool {
        let lowered = word.lowercased()
        return ["http://", "https://", "ws://", "wss://", "file://", "data:"].contains {
            lowered.hasPrefix($0)
        }
    }
}

/// The edit distance of two words, in insertions, deletions and substitutions.
enum EditDistance {
    static func between(_ left: String, _ right: String) -> Int {
        let (left, right) = (Array(left), Array(right))
        var row = Array(0...right.count)
        for (index, letter) in left.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for (column, other) in right.enumerated() {
                let exchanged = diagonal + (letter == other ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(exchanged, diagonal + 1, row[column] + 1)
            }
        }
        return row[right.count]
    }
}
