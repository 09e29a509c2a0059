// SPDX-License-Identifier: MIT

/// A Swift source file as the rules see it: its lines as written, and its tokens without comments and string texts.
///
/// The lexer knows what it must to tell code from text: line and nested block comments, plain, multi-line and raw
/// string literals, and that an interpolation `\( … )` is code again. It does not know regex literals, which the house
/// does not use. It never fails: what it cannot tell it takes for a punctuation mark.
struct SourceFile {
    /// A word (identifier, keyword, number) or a single punctuation mark, and the line it stands on.
    struct Token: Equatable {
        let text: String
        let line: Int
    }

    let path: String
    let lines: [String]
    let tokens: [Token]

    /// The file's name without folders and `.swift`.
    var stem: String {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        return name.hasSuffix(".swift") ? String(name.dropLast(6)) : name
    }

    /// The folders that lead to the file.
    var folders: [String] { path.split(separator: "/").dropLast().map(String.init) }

    init(path: String, text: String) {
        self.path = path
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if lines.last == "" { lines.removeLast() }
        self.lines = lines
        var lexer = Lexer(characters: Array(text))
        lexer.code(untilClosingParenthesis: false)
        tokens = lexer.tokens
    }

    /// The token at `index`, or an empty one beyond either end.
    func token(_ index: Int) -> String {
        tokens.indices.contains(index) ? tokens[index].text : ""
    }

    private struct Lexer {
        let characters: [Character]
        var position = 0
        var line = 1
        var tokens: [Token] = []

        init(characters: [Character]) { self.characters = characters }

        func peek(_ ahead: Int = 0) -> Character? {
            position + ahead < characters.count ? characters[position + ahead] : nil
        }

        func sees(_ text: String) -> Bool {
            text.enumerated().allSatisfy { peek($0.offset) == $0.element }
        }

        mutating func advance(_ count: Int = 1) {
            for _ in 0..<count {
                if peek()?.isNewline == true { line += 1 }
                position += 1
            }
        }

        mutating func code(untilClosingParenthesis: Bool) {
            var depth = 0
            while let next = peek() {
                if sees("//") {
                    while let character = peek(), !character.isNewline { advance() }
                } else if sees("/*") {
                    blockComment()
                } else if next == "\"" || startsRawString {
                    string()
                } else if isWord(next) {
                    word()
                } else {
                    if next == "(" { depth += 1 }
                    if next == ")" { depth -= 1 }
                    if !next.isWhitespace { tokens.append(Token(text: String(next), line: line)) }
                    advance()
                    if untilClosingParenthesis && depth < 0 { return }
                }
            }
        }

        var startsRawString: Bool {
            var ahead = 0
            while peek(ahead) == "#" { ahead += 1 }
            return ahead > 0 && peek(ahead) == "\""
        }

        func isWord(_ character: Character) -> Bool {
            character.isLetter || character.isNumber || character == "_"
        }

        mutating func word() {
            let start = position
            while let character = peek(), isWord(character) { advance() }
            tokens.append(Token(text: String(characters[start..<position]), line: line))
        }

        mutating func blockComment() {
            var depth = 0
            while position < characters.count {
                if sees("/*") {
                    depth += 1
                    advance(2)
                } else if sees("*/") {
                    depth -= 1
                    advance(2)
                    if depth == 0 { return }
                } else {
                    advance()
                }
            }
        }

        mutating func string() {
            var hashes = ""
            while peek() == "#" {
                hashes += "#"
                advance()
            }
            let quote = sees("\"\"\"") ? "\"\"\"" : "\""
            advance(quote.count)
            tokens.append(Token(text: "\"", line: line))
            while let character = peek() {
                if sees(quote + hashes) {
                    advance(quote.count + hashes.count)
                    return
                }
                if quote.count == 1 && character.isNewline { return }
                if sees("\\" + hashes + "(") {
                    advance(2 + hashes.count)
                    code(untilClosingParenthesis: true)
                } else if sees("\\" + hashes) {
                    advance(2 + hashes.count)
                } else {
                    advance()
                }
            }
        }
    }
}
