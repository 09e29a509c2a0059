// SPDX-License-Identifier: MIT

import Foundation

/// Compares the callbacks of the public interface with `callbacks.txt`, which lists for each callback the files that call it and
/// the tests that call the library back from it.
///
/// A callback is a requirement of a public protocol, a closure as a public parameter, variable or payload of an enum, or an
/// `open` method of an `open` class, which a subclass may override. The comparison fails for a new callback until it is listed:
/// the code that calls it asserts that no lock is held, and it has a row in `Tests/LupineTests/Hostile/Callback*.swift` or its
/// own suite.
struct CallbackRule {
    static let listPath = "Tests/ArchitectureTests/callbacks.txt"

    /// Returns the type aliases of function types in a file, for parameters that are declared with them.
    static func aliases(in file: SourceFile) -> Set<String> {
        var found: Set<String> = []
        for index in file.tokens.indices where file.token(index) == "typealias" {
            let line = file.tokens[index].line
            var last = index + 1
            while last < file.tokens.count, file.tokens[last].line <= line + 8 {
                if isArrow(at: last, in: file) {
                    found.insert(file.token(index + 1))
                    break
                }
                if last > index + 1, declarators.contains(file.token(last)) { break }
                last += 1
            }
        }
        return found
    }

    /// Returns the callbacks of one file: `Protocol.requirement(labels:)`, `Type.function(label of the closure:)`,
    /// `Type.variable`, `Type.case`, and `open Type.method(labels:)`.
    static func callbacks(in file: SourceFile, aliases: Set<String>) -> Set<String> {
        var scan = Scan(file: file, aliases: aliases)
        return scan.callbacks()
    }

    /// Returns what is missing on either side.
    ///
    /// - Parameters:
    ///   - callbacks: The callbacks of the public interface.
    ///   - rows: The names of the rows in the tests' table.
    ///   - asserting: The files in `Sources` that assert that no lock is held.
    ///   - suites: The names of test suites.
    ///   - list: Lines of `callback | files that call it | rows of the table, or suites`; its head lists the other allowed
    ///     values.
    static func differences(
        _ callbacks: Set<String>, rows: Set<String>, asserting: Set<String>, suites: Set<String>, list: String
    ) -> [String] {
        var found: [String] = []
        var (listed, callers, tested) = (Set<String>(), Set<String>(), Set<String>())
        for line in list.split(separator: "\n") where !line.hasPrefix("#") {
            let fields = line.components(separatedBy: " | ")
            guard fields.count == 3, fields.allSatisfy({ !$0.isEmpty }) else {
                found.append("\(line): a line is `callback | files | rows, suites or reason`")
                continue
            }
            let matches =
                fields[0].hasSuffix("*")
                ? callbacks.filter { $0.hasPrefix(fields[0].dropLast()) }
                : callbacks.intersection([fields[0]])
            // Observers of notifications and of key paths appear in no interface.
            if matches.isEmpty, !fields[0].hasPrefix("observers of ") {
                found.append("\(fields[0]) is no callback of the public interface")
            }
            listed.formUnion(matches)
            if fields[1] == "-" { continue }
            if fields[1] != "queue" { callers.formUnion(fields[1].components(separatedBy: ", ")) }
            for test in fields[2].components(separatedBy: ", ") {
                if rows.contains(test) {
                    tested.insert(test)
                } else if !suites.contains(test) {
                    found.append(
                        "\(fields[0]): \(test) is neither a row of the table of callbacks nor a suite")
                }
            }
        }
        found += callbacks.subtracting(listed).map { "\($0) stands not in \(listPath)" }
        found += callers.subtracting(asserting).map { "\($0) calls the program's code and asserts nothing" }
        found += asserting.subtracting(callers)
            .map { "\($0) asserts for a callback that \(listPath) has not" }
        found += rows.subtracting(tested).map { "the row \"\($0)\" stands for no callback of \(listPath)" }
        return found.sorted()
    }

    /// Returns the names of the rows in the text of a table of callbacks; a name ends before its first interpolation.
    static func rows(in text: String) -> Set<String> {
        let opening = "Callback("
        return text.components(separatedBy: opening).dropFirst().reduce(into: []) { found, part in
            let argument = part.drop { $0.isWhitespace }
            guard argument.first == "\"" else { return }
            let name = argument.dropFirst().prefix { $0 != "\"" && $0 != "\\" }
            found.insert(name.trimmingCharacters(in: .whitespaces))
        }
    }

    private static let declarators: Set<String> = [
        "func", "var", "let", "init", "typealias", "public", "open", "package", "static", "case", "struct",
        "enum",
        "class", "protocol", "extension", "{", "}",
    ]

    /// Returns whether the tokens at `index` are `->`.
    private static func isArrow(at index: Int, in file: SourceFile) -> Bool {
        file.token(index) == "-" && file.token(index + 1) == ">"
    }

    /// One pass over a file that tracks the types around the current token and collects their callbacks.
    private struct Scan {
        /// A pair of braces around the current token.
        private struct Level {
            /// The name of the type; nil for braces that are not the body of a type.
            var type: String?
            var isPublicProtocol = false
            var isPublicEnum = false
            var isOpenClass = false
        }

        private let file: SourceFile
        private let aliases: Set<String>
        private var levels: [Level] = []
        /// The type whose opening brace has not been read yet.
        private var pendingLevel: Level?
        private var found: Set<String> = []

        init(file: SourceFile, aliases: Set<String>) {
            self.file = file
            self.aliases = aliases
        }

        mutating func callbacks() -> Set<String> {
            var index = 0
            while index < file.tokens.count {
                index = handleToken(at: index)
            }
            return found
        }

        /// Handles the token at `index` and returns the index of the next token to handle.
        private mutating func handleToken(at index: Int) -> Int {
            switch file.token(index) {
            case "class" where ["func", "var", "subscript"].contains(file.token(index + 1)): break
            case "class", "struct", "enum", "extension", "protocol", "actor": handleType(at: index)
            case "{":
                levels.append(pendingLevel ?? Level())
                pendingLevel = nil
            case "}": _ = levels.popLast()
            case "func", "init": return handleFunction(at: index)
            case "var", "let": handleVariable(at: index)
            case "case": handleCase(at: index)
            default: break
            }
            return index + 1
        }

        /// Handles the declaration or extension of a type, whose body follows.
        private mutating func handleType(at index: Int) {
            guard isWord(file.token(index + 1)), file.token(index - 1) != ":", file.token(index - 1) != "."
            else {
                return
            }
            var (last, name) = (index + 1, file.token(index + 1))
            while file.token(last + 1) == "." {
                last += 2
                name += "." + file.token(last)
            }
            let access = access(at: index)
            pendingLevel = Level(
                type: name,
                isPublicProtocol: file.token(index) == "protocol" && access != nil,
                isPublicEnum: file.token(index) == "enum" && access != nil,
                isOpenClass: file.token(index) == "class" && access == "open")
        }

        /// Returns `public` or `open` if a declaration has it.
        private func access(at index: Int) -> String? {
            let modifiers: Set<String> = [
                "static", "class", "final", "override", "mutating", "nonisolated", "convenience", "indirect",
                "required", "unsafe", "weak", "consuming", "borrowing",
            ]
            var previous = index - 1
            while modifiers.contains(file.token(previous)) { previous -= 1 }
            return ["public", "open"].contains(file.token(previous)) ? file.token(previous) : nil
        }

        /// The full name of the type around the current token; nil outside of types and inside of functions.
        private var type: String? {
            let names = levels.map(\.type)
            return names.isEmpty || names.contains(nil) ? nil : names.compactMap { $0 }.joined(separator: ".")
        }

        /// Handles a function, and returns the index after its parameters, so that the labels in closure types are not handled.
        private mutating func handleFunction(at index: Int) -> Int {
            guard let type, let level = levels.last, file.token(index - 1) != "." else { return index + 1 }
            var start = index + 1
            while start < file.tokens.count, file.token(start) != "(" {
                if ["{", "}", "func", "="].contains(file.token(start)) { return index + 1 }
                start += 1
            }
            let (parameters, end) = parameters(from: start)
            let name = file.token(index) == "init" ? "init" : file.token(index + 1)
            let labels = "(\(parameters.map { "\($0.label):" }.joined()))"
            if level.isPublicProtocol {
                found.insert("\(type).\(name)\(labels)")
            } else if let access = access(at: index) {
                for parameter in parameters where parameter.isClosure {
                    found.insert("\(type).\(name)(\(parameter.name):)")
                }
                if level.isOpenClass, access == "open", name != "init" {
                    found.insert("open \(type).\(name)\(labels)")
                }
            }
            return end
        }

        private struct Parameter {
            let label: String
            let name: String
            let isClosure: Bool
        }

        /// Returns the parameters between the parenthesis at `start` and the matching one, and the index after that.
        private func parameters(from start: Int) -> ([Parameter], Int) {
            var (parameters, words, isClosure, depth, index) = ([Parameter](), [String](), false, 0, start)
            /// Whether the name of the current parameter is complete: its type or default value follows.
            var isNamed = false
            func addParameter() {
                guard let label = words.first else { return }
                let name = label == "_" ? words.dropFirst().first ?? label : label
                parameters.append(Parameter(label: label, name: name, isClosure: isClosure))
            }
            while index < file.tokens.count {
                let token = file.token(index)
                switch token {
                case "(", "[", "{": depth += 1
                case ")", "]", "}":
                    depth -= 1
                    if depth == 0 {
                        addParameter()
                        return (parameters, index + 1)
                    }
                case "," where depth == 1:
                    addParameter()
                    (words, isClosure, isNamed) = ([], false, false)
                case ":" where depth == 1: isNamed = true
                case "=" where depth == 1: isNamed = true
                default:
                    if isNamed {
                        if CallbackRule.isArrow(at: index, in: file) || aliases.contains(token) {
                            isClosure = true
                        }
                    } else if depth == 1, isWord(token) {
                        words.append(token)
                    }
                }
                index += 1
            }
            return (parameters, index)
        }

        /// Handles a variable whose declared type is a function, on one line.
        private mutating func handleVariable(at index: Int) {
            guard let type, access(at: index) != nil, file.token(index + 2) == ":" else { return }
            var last = index + 3
            let line = file.tokens[index].line
            while last < file.tokens.count, file.tokens[last].line == line,
                !["{", "="].contains(file.token(last))
            {
                if CallbackRule.isArrow(at: last, in: file) || aliases.contains(file.token(last)) {
                    found.insert("\(type).\(file.token(index + 1))")
                    return
                }
                last += 1
            }
        }

        /// Handles a case of a public enum that holds a closure.
        private mutating func handleCase(at index: Int) {
            guard let type, levels.last?.isPublicEnum == true, file.token(index + 2) == "(" else { return }
            var (depth, last) = (0, index + 2)
            while last < file.tokens.count {
                if file.token(last) == "(" { depth += 1 }
                if file.token(last) == ")" { depth -= 1 }
                if depth == 0 { return }
                if CallbackRule.isArrow(at: last, in: file) || aliases.contains(file.token(last)) {
                    found.insert("\(type).\(file.token(index + 1))")
                    return
                }
                last += 1
            }
        }

        private func isWord(_ token: String) -> Bool {
            token.first.map { $0.isLetter || $0 == "_" } == true
        }
    }
}
