// SPDX-License-Identifier: MIT

/// Parses a command line. The result depends only on the arguments: parsing does no I/O.
enum CommandLineReader {
    /// The action that a command line asks for.
    enum Action: Hashable, Sendable {
        /// One or several URLs to load, with the same options.
        case fetch(Invocation)
        /// Several requests, separated by --next.
        case series([Invocation])
        /// `--help`.
        case help
        /// `lupine help ITEM`.
        case explain(String?)
        case version
        case manual
        /// The completions of the shell with this name.
        case completions(String)
        /// `lupine serve` with these arguments.
        case serve([String])
        /// `lupine demo` with these arguments.
        case demo([String])
    }

    /// Parses the arguments, which do not include the command's own name.
    static func read(_ arguments: [String]) throws(UsageError) -> Action {
        guard let first = arguments.first else {
            throw UsageError("a URL is missing: lupine [METHOD] URL [ITEM...] (lupine --help)")
        }
        let furtherArguments = Array(arguments.dropFirst())
        switch first {
        case "help": return .explain(furtherArguments.first)
        case "manual": return .manual
        case "version": return .version
        case "completions":
            guard let shell = furtherArguments.first, ["bash", "zsh", "fish"].contains(shell) else {
                throw UsageError("completions are there for bash, zsh and fish: lupine completions bash")
            }
            return .completions(shell)
        case "serve", "demo":
            if furtherArguments.contains("--help") || furtherArguments.contains("-h") {
                return .explain(first)
            }
            return first == "serve" ? .serve(furtherArguments) : .demo(furtherArguments)
        default: return try parseRequests(arguments)
        }
    }

    /// An argument that is neither an option nor the value of one, or the value of --url.
    private struct Word {
        let text: String
        var isURL = false
    }

    /// Parses a command line without a subcommand.
    private static func parseRequests(_ arguments: [String]) throws(UsageError) -> Action {
        var invocation = Invocation()
        var completeInvocations: [Invocation] = []
        var words: [Word] = []
        var unparsed = arguments[...]
        // False after `--`, which ends the options.
        var acceptsOptions = true
        while let argument = unparsed.popFirst() {
            if !acceptsOptions || argument == "-" || !argument.hasPrefix("-") {
                words.append(Word(text: argument))
            } else if argument == "--" {
                acceptsOptions = false
            } else {
                let options =
                    argument.hasPrefix("--")
                    ? try parseLongOption(argument, &unparsed) : try parseShortOptions(argument, &unparsed)
                for (option, value) in options {
                    if option.name == .help { return .help }
                    if option.name == .version { return .version }
                    if option.name == .next {
                        completeInvocations.append(try complete(invocation, words))
                        (invocation, words) = (invocation.successor(), [])
                    } else if option.name == .url {
                        words.append(Word(text: try Invocation.nonEmpty(option, value), isURL: true))
                    } else if option.name == .json, let text = unparsed.first, isJSON(text, words) {
                        invocation.addJSONData(text)
                        unparsed = unparsed.dropFirst()
                    } else {
                        try invocation.apply(option, value)
                    }
                }
            }
        }
        completeInvocations.append(try complete(invocation, words))
        if completeInvocations.count == 1 { return .fetch(completeInvocations[0]) }
        return .series(completeInvocations)
    }

    /// Returns an invocation with the URLs and items of these words, after checking the combination of its options.
    private static func complete(
        _ invocation: Invocation, _ words: [Word]
    ) throws(UsageError) -> Invocation {
        var invocation = invocation
        try assign(words, to: &invocation)
        invocation.resolveCombinations()
        try InvocationCheck.check(invocation)
        return invocation
    }

    /// Whether the argument after --json is the DATA of curl's --json. HTTPie's --json has no value, so it may be a URL or an
    /// item.
    private static func isJSON(_ text: String, _ words: [Word]) -> Bool {
        if text.hasPrefix("@") { return words.allSatisfy { $0.isURL || isMethod($0.text) } }
        return (text.hasPrefix("{") || text.hasPrefix("[")) && JSONText.isValid([UInt8](text.utf8))
    }

    // MARK: options

    /// Parses a long option. Removes its value from `unparsed` if the argument does not contain it.
    private static func parseLongOption(
        _ argument: String, _ unparsed: inout ArraySlice<String>
    ) throws(UsageError) -> [(Option, String)] {
        let parts = argument.dropFirst(2).split(
            separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0])
        guard let option = OptionTable.option(long: name) else {
            if let message = ForeignOption.message(for: "--\(name)") { throw UsageError(message) }
            let suggestion = nearestOption(to: name).map { "; did you mean --\($0)?" } ?? ""
            throw UsageError("there is no option --\(name)\(suggestion) (lupine help options)")
        }
        let value = parts.count == 2 ? String(parts[1]) : nil
        switch option.argument {
        case .none:
            if value != nil { throw UsageError("--\(name) takes no value: write it without `=`") }
            return [(option, "")]
        case .optional(let words):
            if let value, !words.contains(value) {
                throw UsageError("--\(name) takes \(words.joined(separator: " or ")), not `\(value)`")
            }
            return [(option, value ?? "")]
        case .value, .oneOf, .file:
            return [(option, try validated(option, value ?? unparsed.popFirst(), as: "--\(name)"))]
        }
    }

    /// Parses the short options of an argument, of which the last may have a value. Removes the value from `unparsed` if the
    /// argument does not contain it.
    private static func parseShortOptions(
        _ argument: String, _ unparsed: inout ArraySlice<String>
    ) throws(UsageError) -> [(Option, String)] {
        var options: [(Option, String)] = []
        var letters = argument.dropFirst()
        while let letter = letters.popFirst() {
            guard let option = OptionTable.option(short: letter) else {
                throw UsageError(
                    ForeignOption.message(for: "-\(letter)")
                        ?? "there is no option -\(letter) (lupine help options)")
            }
            switch option.argument {
            case .none, .optional: options.append((option, ""))
            case .value, .oneOf, .file:
                let value = letters.isEmpty ? unparsed.popFirst() : String(letters)
                options.append((option, try validated(option, value, as: "-\(letter)")))
                return options
            }
        }
        return options
    }

    /// Returns the value of an option; throws if it is missing or is none of the option's words. Errors contain the name as
    /// typed.
    private static func validated(
        _ option: Option, _ value: String?, as typedName: String
    ) throws(UsageError) -> String {
        switch option.argument {
        case .value(let word), .file(let word):
            guard let value else { throw UsageError("\(typedName) needs a value: \(typedName) \(word)") }
            return value
        case .oneOf(let words):
            guard let value, words.contains(value) else {
                let wrongValue = value.map { ", not `\($0)`" } ?? ""
                throw UsageError("\(typedName) needs one of \(words.joined(separator: ", "))\(wrongValue)")
            }
            return value
        case .none, .optional: return value ?? ""
        }
    }

    /// Returns the long name of an option that is most similar to a word; nil if none has an edit distance of at most two.
    private static func nearestOption(to word: String) -> String? {
        let names = OptionTable.all.flatMap(\.longNames)
        let distances = names.map { (name: $0, distance: EditDistance.between(word, $0)) }
        guard let nearest = distances.min(by: { $0.distance < $1.distance }), nearest.distance <= 2 else {
            return nil
        }
        return nearest.name
    }

    // MARK: method, URLs and items

    /// Parses `[METHOD] URL [ITEM...]`, in which a later argument with a scheme is another URL. The URLs, including those of
    /// --url, keep their order, by which each -o is assigned to a URL.
    private static func assign(_ words: [Word], to invocation: inout Invocation) throws(UsageError) {
        let arguments = words.filter { !$0.isURL }.map(\.text)
        let hasURLOption = arguments.count < words.count
        guard let first = arguments.first ?? words.first?.text else {
            let hint =
                invocation.rawBody == nil
                ? "" : "; --raw takes a body, and curl's --raw is --raw-encoding here"
            throw UsageError("a URL is missing: lupine [METHOD] URL [ITEM...]\(hint)")
        }
        if !arguments.isEmpty, first.prefix(while: { !":/?#[".contains($0) }).contains("=") {
            throw UsageError(
                "`\(first)` stands where the URL belongs: items follow it; curl's --form NAME=CONTENT is -F here"
            )
        }
        // The first argument is a method if it looks like one and another argument or option gives a URL.
        var isMethodNext =
            !arguments.isEmpty && (arguments.count > 1 || hasURLOption) && isMethod(first)
        if isMethodNext {
            if let method = invocation.method, method != first.uppercased() {
                throw UsageError("there are two methods, \(first) and -X \(method): give one")
            }
            invocation.method = first.uppercased()
        }
        var needsURL = true
        for word in words {
            if word.isURL {
                invocation.urls.append(word.text)
            } else if isMethodNext {
                isMethodNext = false
            } else if needsURL || hasScheme(word.text) {
                needsURL = false
                invocation.urls.append(word.text)
            } else {
                invocation.items.append(try RequestItem(word.text))
            }
        }
    }

    /// Whether a word may be a method: it consists of letters, and is in capitals or a well-known method.
    private static func isMethod(_ word: String) -> Bool {
        let known = ["get", "head", "post", "put", "patch", "delete", "options", "trace"]
        return word.allSatisfy { $0.isASCII && $0.isLetter }
            && (word.allSatisfy(\.isUppercase) || known.contains(word.lowercased()))
    }

    /// Whether a word begins with a scheme that the command can load.
    static func hasScheme(_ word: String) -> Bool {
        let lowered = word.lowercased()
        return ["http://", "https://", "ws://", "wss://", "file://", "data:"].contains {
            lowered.hasPrefix($0)
        }
    }
}

/// Computes how different two words are.
enum EditDistance {
    /// Returns the least number of insertions, deletions and substitutions that turn one word into the other (the Levenshtein
    /// distance).
    static func between(_ left: String, _ right: String) -> Int {
        let (left, right) = (Array(left), Array(right))
        var row = Array(0...right.count)
        for (index, leftLetter) in left.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for (column, rightLetter) in right.enumerated() {
                let substituted = diagonal + (leftLetter == rightLetter ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(substituted, diagonal + 1, row[column] + 1)
            }
        }
        return row[right.count]
    }
}
