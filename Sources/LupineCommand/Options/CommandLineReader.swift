// SPDX-License-Identifier: MIT

/// Parses a command line. The result depends only on the arguments: parsing does no I/O.
enum CommandLineReader {
    /// The action that a command line asks for.
    enum Action: Hashable, Sendable {
        /// Load one or several URLs with the same options.
        case fetch(Invocation)
        /// Load the URLs of several invocations, which --next separates.
        case series([Invocation])
        /// Print the text of `--help`.
        case help
        /// Print the page of `lupine help ITEM`. The item is nil for `lupine help` alone.
        case explain(String?)
        /// Print the version.
        case version
        /// Print the manual page.
        case manual
        /// Print the completion script for the shell with this name.
        case completions(String)
        /// Run `lupine serve` with these arguments.
        case serve([String])
        /// Run `lupine demo` with these arguments.
        case demo([String])
    }

    /// Returns the action that the arguments ask for. The arguments do not include the command's own name. Throws if they are
    /// invalid.
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

    /// A word of the command line that is a method, a URL or an item: an argument that is neither an option nor the value of an
    /// option, or the value of --url.
    private struct Word {
        let text: String
        /// Whether the word is the value of --url, and so cannot be a method or an item.
        var isURL = false
    }

    /// Parses a command line without a subcommand. `--help` and `--version` end the parsing: later arguments are ignored.
    private static func parseRequests(_ arguments: [String]) throws(UsageError) -> Action {
        var invocation = Invocation()
        // The invocations that --next has ended.
        var completeInvocations: [Invocation] = []
        // The words of the current invocation.
        var words: [Word] = []
        var unparsed = arguments[...]
        // False after `--`, which ends the options.
        var acceptsOptions = true
        while let argument = unparsed.popFirst() {
            // A dash alone is not an option.
            let looksLikeOption = argument.hasPrefix("-") && argument != "-"
            if !acceptsOptions || !looksLikeOption {
                words.append(Word(text: argument))
            } else if argument == "--" {
                acceptsOptions = false
            } else {
                let options =
                    argument.hasPrefix("--")
                    ? try parseLongOption(argument, &unparsed) : try parseShortOptions(argument, &unparsed)
                for (option, value) in options {
                    // Options that do more than set properties of the invocation come first.
                    if option.name == .help { return .help }
                    if option.name == .version { return .version }
                    if option.name == .next {
                        completeInvocations.append(try complete(invocation, words))
                        (invocation, words) = (invocation.successor(), [])
                    } else if option.name == .url {
                        words.append(Word(text: try Invocation.nonEmpty(option, value), isURL: true))
                    } else if option.name == .json, let next = unparsed.first,
                        isJSONData(next, after: words)
                    {
                        invocation.addJSONData(next)
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

    /// Returns the invocation with the method, the URLs and the items of these words. Throws if its options contradict each
    /// other.
    private static func complete(
        _ invocation: Invocation, _ words: [Word]
    ) throws(UsageError) -> Invocation {
        var invocation = invocation
        try assign(words, to: &invocation)
        invocation.resolveCombinations()
        try InvocationCheck.check(invocation)
        return invocation
    }

    /// Whether the argument that follows --json is the DATA of curl's --json. HTTPie's --json has no value; the argument after it
    /// is a URL or an item.
    ///
    /// - Parameters:
    ///   - argument: The argument that follows --json.
    ///   - words: The words that precede --json.
    private static func isJSONData(_ argument: String, after words: [Word]) -> Bool {
        if argument.hasPrefix("@") {
            // `@FILE` is an item if an argument before it is the URL, else DATA.
            return words.allSatisfy { $0.isURL || isMethod($0.text) }
        }
        // A URL may also begin with a bracket: `[::1]:8080`.
        return (argument.hasPrefix("{") || argument.hasPrefix("["))
            && JSONText.isValid([UInt8](argument.utf8))
    }

    // MARK: options

    /// Parses `--NAME`, `--NAME=VALUE` or `--NAME VALUE`. Returns the option with its value, which is empty if the option has
    /// none.
    ///
    /// - Parameters:
    ///   - argument: The argument that begins with `--`.
    ///   - unparsed: The arguments after it. If the value is the first of them, it is removed.
    private static func parseLongOption(
        _ argument: String, _ unparsed: inout ArraySlice<String>
    ) throws(UsageError) -> [(option: Option, value: String)] {
        let nameAndValue = argument.dropFirst(2).split(
            separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(nameAndValue[0])
        guard let option = OptionTable.option(long: name) else {
            if let message = ForeignOption.message(for: "--\(name)") { throw UsageError(message) }
            let suggestion = nearestOption(to: name).map { "; did you mean --\($0)?" } ?? ""
            throw UsageError("there is no option --\(name)\(suggestion) (lupine help options)")
        }
        let valueAfterEquals = nameAndValue.count == 2 ? String(nameAndValue[1]) : nil
        switch option.argument {
        case .none:
            if valueAfterEquals != nil {
                throw UsageError("--\(name) takes no value: write it without `=`")
            }
            return [(option, "")]
        case .optional(let words):
            if let valueAfterEquals, !words.contains(valueAfterEquals) {
                throw UsageError(
                    "--\(name) takes \(words.joined(separator: " or ")), not `\(valueAfterEquals)`")
            }
            return [(option, valueAfterEquals ?? "")]
        case .value, .oneOf, .file:
            let value = valueAfterEquals ?? unparsed.popFirst()
            return [(option, try validatedValue(value, of: option, typedName: "--\(name)"))]
        }
    }

    /// Parses the short options of one argument, such as `-sS` or `-XPOST`. Only the last of them may have a value. Returns the
    /// options with their values, which are empty for options without a value.
    ///
    /// - Parameters:
    ///   - argument: The argument that begins with a dash.
    ///   - unparsed: The arguments after it. If the value is the first of them, it is removed.
    private static func parseShortOptions(
        _ argument: String, _ unparsed: inout ArraySlice<String>
    ) throws(UsageError) -> [(option: Option, value: String)] {
        var options: [(option: Option, value: String)] = []
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
                // The rest of the argument is the value, or else the next argument.
                let value = letters.isEmpty ? unparsed.popFirst() : String(letters)
                options.append((option, try validatedValue(value, of: option, typedName: "-\(letter)")))
                return options
            }
        }
        return options
    }

    /// Returns the value of an option; throws if it is missing or is none of the option's words.
    ///
    /// - Parameters:
    ///   - value: The value as typed; nil if it is missing.
    ///   - option: The option.
    ///   - typedName: The name that the user has typed for the option, with its dashes, for errors.
    private static func validatedValue(
        _ value: String?, of option: Option, typedName: String
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

    /// Parses `[METHOD] URL [ITEM...]`, and adds the method, the URLs and the items to an invocation. An argument after the URL
    /// that begins with a scheme is another URL.
    ///
    /// The URLs, including those of --url, keep their order: the first -o applies to the first URL, and so on.
    private static func assign(_ words: [Word], to invocation: inout Invocation) throws(UsageError) {
        // The words that are not values of --url.
        let arguments = words.filter { !$0.isURL }.map(\.text)
        let hasURLOption = arguments.count < words.count
        // If all words are values of --url, `first` is one of these values. The checks of `arguments.isEmpty` below then exclude
        // that it is an item or a method.
        guard let first = arguments.first ?? words.first?.text else {
            let hint =
                invocation.rawBody == nil
                ? "" : "; --raw takes a body, and curl's --raw is --raw-encoding here"
            throw UsageError("a URL is missing: lupine [METHOD] URL [ITEM...]\(hint)")
        }
        // An equals sign before any delimiter of a URL shows that the argument is an item.
        let beginsWithItem = first.prefix(while: { !":/?#[".contains($0) }).contains("=")
        if !arguments.isEmpty, beginsWithItem {
            throw UsageError(
                "`\(first)` stands where the URL belongs: items follow it; curl's --form NAME=CONTENT is -F here"
            )
        }
        // The first argument is a method if it looks like one and a URL is given besides, as another argument or by --url.
        let hasOtherURL = arguments.count > 1 || hasURLOption
        let hasMethodArgument = !arguments.isEmpty && hasOtherURL && isMethod(first)
        if hasMethodArgument {
            if let method = invocation.method, method != first.uppercased() {
                throw UsageError("there are two methods, \(first) and -X \(method): give one")
            }
            invocation.method = first.uppercased()
        }
        var isMethodNext = hasMethodArgument
        // The first argument after the method is a URL even without a scheme.
        var isURLNext = true
        for word in words {
            if word.isURL {
                invocation.urls.append(word.text)
            } else if isMethodNext {
                // The method has been set above.
                isMethodNext = false
            } else if isURLNext || hasScheme(word.text) {
                isURLNext = false
                invocation.urls.append(word.text)
            } else {
                invocation.items.append(try RequestItem(word.text))
            }
        }
    }

    /// Whether a word may be a method: it consists of ASCII letters, and is in capitals or a well-known method.
    private static func isMethod(_ word: String) -> Bool {
        let knownMethods = ["get", "head", "post", "put", "patch", "delete", "options", "trace"]
        return word.allSatisfy { $0.isASCII && $0.isLetter }
            && (word.allSatisfy(\.isUppercase) || knownMethods.contains(word.lowercased()))
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
        // `row[column]` is the distance between the letters of `left` so far and the first `column` letters of `right`.
        var row = Array(0...right.count)
        for (index, leftLetter) in left.enumerated() {
            // The entry of the previous row that the loop below has overwritten last.
            var diagonal = row[0]
            row[0] = index + 1
            for (column, rightLetter) in right.enumerated() {
                let withSubstitution = diagonal + (leftLetter == rightLetter ? 0 : 1)
                diagonal = row[column + 1]
                let withDeletion = diagonal + 1
                let withInsertion = row[column] + 1
                row[column + 1] = min(withSubstitution, withDeletion, withInsertion)
            }
        }
        return row[right.count]
    }
}
