// SPDX-License-Identifier: MIT

/// Checks that a type has at most 400 lines of code, its extensions in all files included: a longer one holds several ideas.
///
/// A line counts if it holds code of the type. Public declarations, whose number the interface decides, are not counted, and
/// neither are declarations of types: a nested type is measured under its own name. The text of a literal is data and not
/// counted, such as the table of `MIMETypeTable`. `type-sizes.txt` lists the types that are longer, one line each:
/// `type | lines | reason`. The number is exact, so that it only falls.
struct TypeSizeRule {
    static let exemptionsPath = "Tests/ArchitectureTests/type-sizes.txt"
    static let maximumLines = 400

    /// The number of lines of each type.
    private(set) var sizes: [String: Int] = [:]

    init(files: [SourceFile]) {
        for file in files {
            var scan = Scan(file: file)
            _ = scan.readMembers(of: nil, from: 0)
            for (type, lines) in scan.lines { sizes[type, default: 0] += lines.count }
        }
    }

    /// Returns a violation for each type that is too long, and for each line of the list that does not match its type.
    func violations(list: String) -> [Violation] {
        let exemptions = Exemptions(path: Self.exemptionsPath, text: list)
        var found = exemptions.malformed
        func report(_ line: Int, _ rule: String) {
            found.append(Violation(path: Self.exemptionsPath, line: line, rule: rule))
        }
        for (type, size) in sizes.sorted(by: { $0.key < $1.key }) where size > Self.maximumLines {
            guard let entry = exemptions.lines.first(where: { $0.path == type }) else {
                report(
                    1,
                    "\(type) has \(size) lines, \(Self.maximumLines) are enough: which second idea moved in?")
                continue
            }
            if entry.rule == String(size) { continue }
            report(
                entry.line, "\(type) has \(size) lines, the list says \(entry.rule): the number may only fall"
            )
        }
        for entry in exemptions.lines where sizes[entry.path, default: 0] <= Self.maximumLines {
            report(entry.line, "\(entry.path) needs no exemption: remove it")
        }
        return found
    }

    /// Reads the declarations of one file.
    private struct Scan {
        let file: SourceFile
        /// The lines that hold code of each type.
        var lines: [String: Set<Int>] = [:]

        private static let typeKeywords: Set = ["class", "struct", "enum", "actor", "protocol", "extension"]
        private static let modifiers: Set = [
            "public", "open", "package", "internal", "fileprivate", "private", "final", "static", "class",
            "indirect",
            "mutating", "nonmutating", "consuming", "borrowing", "nonisolated", "override", "required",
            "convenience", "weak", "unowned", "lazy", "dynamic", "prefix", "postfix", "infix",
        ]
        private static let otherKeywords: Set = [
            "func", "var", "let", "init", "deinit", "subscript", "case", "typealias", "associatedtype",
            "import",
            "operator", "precedencegroup", "macro", "#",
        ]

        init(file: SourceFile) { self.file = file }

        /// Reads the members of a type, or the declarations at the top level if `type` is nil, from the token at `start` on.
        /// Returns the index of the closing brace.
        mutating func readMembers(of type: String?, from start: Int) -> Int {
            var index = start
            while index < file.tokens.count, file.token(index) != "}" {
                let (isPublic, keyword) = readHead(from: index)
                if Self.typeKeywords.contains(file.token(keyword)) {
                    index = readType(in: type, at: keyword)
                } else {
                    let end = endOfDeclaration(from: index, keyword: keyword)
                    if let type, !isPublic {
                        lines[type, default: []].formUnion(file.tokens[index..<end].map(\.line))
                    }
                    index = end
                }
            }
            return index
        }

        /// Reads attributes and modifiers. Returns whether one of them is `public` or `open`, and the index of the keyword.
        private func readHead(from start: Int) -> (isPublic: Bool, keyword: Int) {
            var index = start
            var isPublic = false
            while true {
                switch file.token(index) {
                case "@": index += 2
                case "class" where !["func", "var", "let", "subscript"].contains(file.token(index + 1)):
                    return (isPublic, index)
                case let word where Self.modifiers.contains(word):
                    // `public private(set)` is public; `private(set)` alone is not.
                    if word == "public" || word == "open" { isPublic = true }
                    index += 1
                default: return (isPublic, index)
                }
                if file.token(index) == "(", file.tokens[index].line == file.tokens[index - 1].line {
                    index = endOfGroup(from: index)
                }
            }
        }

        /// Reads a type or an extension whose keyword is at `keyword`. Returns the index behind it.
        private mutating func readType(in outer: String?, at keyword: Int) -> Int {
            var index = keyword + 1
            var name = file.token(index)
            while file.token(index + 1) == "." {
                name += "." + file.token(index + 2)
                index += 2
            }
            while index < file.tokens.count, file.token(index) != "{" {
                index = file.token(index) == "(" ? endOfGroup(from: index) : index + 1
            }
            let full = outer.map { file.token(keyword) == "extension" ? name : "\($0).\(name)" } ?? name
            return readMembers(of: full, from: index + 1) + 1
        }

        /// Returns the index behind the declaration that begins at `start`: that of the next declaration, or of the brace that
        /// closes the type.
        private func endOfDeclaration(from start: Int, keyword: Int) -> Int {
            var index = max(keyword + 1, start + 1)
            while index < file.tokens.count, file.token(index) != "}" {
                let isFirstOfLine = file.tokens[index].line > file.tokens[index - 1].line
                if isFirstOfLine, beginsDeclaration(index), !continues(index) { return index }
                index = ["(", "[", "{"].contains(file.token(index)) ? endOfGroup(from: index) : index + 1
            }
            return index
        }

        private func beginsDeclaration(_ index: Int) -> Bool {
            let word = file.token(index)
            return word == "@" || Self.modifiers.contains(word) || Self.otherKeywords.contains(word)
                || Self.typeKeywords.contains(word)
        }

        /// Whether the token before this one shows that the declaration of the previous line continues.
        private func continues(_ index: Int) -> Bool {
            let previous = file.token(index - 1)
            return ["=", ":", ",", "&"].contains(previous) || previous == ">" && file.token(index - 2) == "-"
        }

        /// Returns the index behind the group that the bracket at `start` opens.
        private func endOfGroup(from start: Int) -> Int {
            var depth = 0
            for index in start..<file.tokens.count {
                switch file.token(index) {
                case "(", "[", "{": depth += 1
                case ")", "]", "}":
                    depth -= 1
                    if depth == 0 { return index + 1 }
                default: break
                }
            }
            return file.tokens.count
        }
    }
}
