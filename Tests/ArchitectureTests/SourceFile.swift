// SPDX-License-Identifier: MIT

/// A Swift source file for the rules: its lines as written, and its tokens without comments and string texts.
///
/// The lexer recognizes line and nested block comments, plain, multi-line and raw string literals, and the code of an
/// interpolation `\( … )`. It does not recognize regex literals, which this repository does not use. It never fails: any other
/// octet is a punctuation mark.
struct SourceFile: Sendable {
    /// A word (identifier, keyword, number) or a single punctuation mark, with its line number.
    struct Token: Equatable, Sendable {
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
        var lexer = Lexer(octets: Array(text.utf8))
        lexer.readCode(untilClosingParenthesis: false)
        tokens = lexer.tokens
    }

    /// Returns the text of the token at `index`; empty outside of the file.
    func token(_ index: Int) -> String {
        tokens.indices.contains(index) ? tokens[index].text : ""
    }

    /// A function, initializer or deinitializer with a body, and the lines from its name to its closing brace.
    struct Function: Equatable, Sendable {
        let name: String
        let lines: ClosedRange<Int>
    }

    /// The functions that the file declares, at any depth.
    var functions: [Function] {
        tokens.indices.compactMap { index in
            let keyword = token(index)
            guard ["func", "init", "deinit"].contains(keyword), token(index - 1) != ".",
                let end = endOfBody(from: index + 1)
            else { return nil }
            return Function(
                name: keyword == "func" ? token(index + 1) : keyword,
                lines: tokens[index].line...tokens[end].line)
        }
    }

    /// Returns the index of the brace that closes the body of a declaration; nil if it has no body, as in a protocol.
    private func endOfBody(from start: Int) -> Int? {
        var depth = 0
        var isInBody = false
        for index in start..<max(start, tokens.count) {
            switch token(index) {
            case "(", "[": depth += 1
            case ")", "]": depth -= 1
            case "{":
                if depth == 0 { isInBody = true }
                depth += 1
            case "}":
                depth -= 1
                if depth < 0 { return nil }
                if depth == 0, isInBody { return index }
            case "func", "init", "deinit", "var", "let", "case", "subscript", "associatedtype":
                if depth == 0 { return nil }
            default: break
            }
        }
        return nil
    }

    /// Reads octets and not characters, which would take ten times as long. Every octet that is not ASCII belongs to a word.
    private struct Lexer {
        let octets: [UInt8]
        var position = 0
        var line = 1
        var tokens: [Token] = []

        private static let newline = UInt8(ascii: "\n")
        private static let quote = UInt8(ascii: "\"")
        private static let hash = UInt8(ascii: "#")
        private static let slash = UInt8(ascii: "/")
        private static let star = UInt8(ascii: "*")
        private static let backslash = UInt8(ascii: "\\")

        init(octets: [UInt8]) { self.octets = octets }

        func peek(_ ahead: Int = 0) -> UInt8? {
            position + ahead < octets.count ? octets[position + ahead] : nil
        }

        func matches(_ first: UInt8, _ second: UInt8) -> Bool { peek() == first && peek(1) == second }

        /// Returns whether the octets from `ahead` on begin with `count` times this octet.
        func matches(_ count: Int, of octet: UInt8, ahead: Int = 0) -> Bool {
            (0..<count).allSatisfy { peek(ahead + $0) == octet }
        }

        mutating func advance(_ count: Int = 1) {
            for _ in 0..<count {
                if peek() == Self.newline { line += 1 }
                position += 1
            }
        }

        /// Reads tokens to the end of the text, or to the parenthesis that ends an interpolation.
        mutating func readCode(untilClosingParenthesis: Bool) {
            var depth = 0
            while let next = peek() {
                if matches(Self.slash, Self.slash) {
                    while let octet = peek(), octet != Self.newline { position += 1 }
                } else if matches(Self.slash, Self.star) {
                    skipBlockComment()
                } else if next == Self.quote || startsRawString {
                    readString()
                } else if isWord(next) {
                    readWord()
                } else {
                    if next == UInt8(ascii: "(") { depth += 1 }
                    if next == UInt8(ascii: ")") { depth -= 1 }
                    if !isSpace(next) {
                        tokens.append(Token(text: String(UnicodeScalar(next)), line: line))
                    }
                    advance()
                    if untilClosingParenthesis && depth < 0 { return }
                }
            }
        }

        var startsRawString: Bool {
            guard peek() == Self.hash else { return false }
            var ahead = 0
            while peek(ahead) == Self.hash { ahead += 1 }
            return peek(ahead) == Self.quote
        }

        func isSpace(_ octet: UInt8) -> Bool { octet == 0x20 || 0x09...0x0D ~= octet }

        func isWord(_ octet: UInt8) -> Bool {
            switch octet {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
                true
            default: false
            }
        }

        mutating func readWord() {
            let start = position
            while let octet = peek(), isWord(octet) { position += 1 }
            tokens.append(Token(text: String(decoding: octets[start..<position], as: UTF8.self), line: line))
        }

        mutating func skipBlockComment() {
            var depth = 0
            while position < octets.count {
                if matches(Self.slash, Self.star) {
                    depth += 1
                    advance(2)
                } else if matches(Self.star, Self.slash) {
                    depth -= 1
                    advance(2)
                    if depth == 0 { return }
                } else {
                    advance()
                }
            }
        }

        mutating func readString() {
            var hashes = 0
            while peek() == Self.hash {
                hashes += 1
                advance()
            }
            let quotes = matches(3, of: Self.quote) ? 3 : 1
            advance(quotes)
            tokens.append(Token(text: "\"", line: line))
            while let octet = peek() {
                if octet == Self.quote, matches(quotes, of: Self.quote),
                    matches(hashes, of: Self.hash, ahead: quotes)
                {
                    advance(quotes + hashes)
                    return
                }
                if quotes == 1 && octet == Self.newline { return }
                if octet == Self.backslash, matches(hashes, of: Self.hash, ahead: 1) {
                    let isInterpolation = peek(1 + hashes) == UInt8(ascii: "(")
                    advance(2 + hashes)
                    if isInterpolation {
                        tokens.append(Token(text: "(", line: line))
                        readCode(untilClosingParenthesis: true)
                    }
                } else {
                    advance()
                }
            }
        }
    }
}
