// SPDX-License-Identifier: MIT

/// A `.netrc` file with entries `machine NAME login NAME password WORD` and `default …`, separated by any white space.
///
/// At the start of a line, or where a keyword is expected, a word that begins with `#` starts a comment up to the end of the
/// line; elsewhere, such as after `login` or `password`, it is a value. A missing value is never taken from the next entry, so
/// that one host's password never becomes another's.
struct NetrcFile: Sendable {
    private var entries: [(host: String?, credentials: Credentials)] = []

    init(_ text: String) {
        var words = Words(text)
        var host: String??
        var login = ""
        var password = ""
        func entry() -> (host: String?, credentials: Credentials)? {
            guard let host else { return nil }
            return (host, Credentials(user: login, password: password))
        }
        reading: while let word = words.keyword() {
            switch Self.keyword(word) {
            case "machine", "default":
                if let entry = entry() { entries.append(entry) }
                (login, password) = ("", "")
                // An entry without a name matches no host.
                if word == "default" { host = .some(nil) } else { host = words.value().map { .some($0) } }
            case "login": login = words.value() ?? ""
            case "password": password = words.value() ?? ""
            case "account": _ = words.value()
            case "macdef": break reading
            default: break
            }
        }
        if let entry = entry() { entries.append(entry) }
    }

    /// Returns the first entry for the host, else the default.
    func credentials(for host: String) -> Credentials? {
        let wanted = host.lowercased()
        let found =
            entries.first { $0.host?.lowercased().utf8.elementsEqual(wanted.utf8) == true }
            ?? entries.first { $0.host == nil }
        return found?.credentials
    }

    /// Returns the word if it is short enough for a keyword, since long words take long to compare.
    private static func keyword(_ word: String) -> String { word.utf8.count <= 8 ? word : "" }

    /// The words of the file, some of them quoted.
    private struct Words {
        private struct Word {
            let text: String
            let isQuoted: Bool
            let beginsLine: Bool

            var beginsComment: Bool { !isQuoted && text.unicodeScalars.first == "#" }
            var beginsEntry: Bool { !isQuoted && ["machine", "default"].contains(NetrcFile.keyword(text)) }
        }

        private var rest: ArraySlice<Word>

        init(_ text: String) {
            var words: [Word] = []
            for line in text.unicodeScalars.split(separator: "\n") { Self.add(line, to: &words) }
            rest = words[...]
        }

        /// Returns the next word, skipping comments.
        mutating func keyword() -> String? {
            while let word = rest.popFirst() {
                if !word.beginsComment { return word.text }
                skipLine()
            }
            return nil
        }

        /// Returns the value of the keyword just read; nil if it is missing.
        mutating func value() -> String? {
            while let word = rest.first {
                if word.beginsLine, word.beginsEntry { return nil }
                rest.removeFirst()
                if !word.beginsLine || !word.beginsComment { return word.text }
                skipLine()
            }
            return nil
        }

        private mutating func skipLine() { rest = rest.drop { !$0.beginsLine } }

        /// Compares scalars, since a combining mark may follow a quote.
        private static func add(_ line: Substring.UnicodeScalarView, to words: inout [Word]) {
            let isBlank = { (scalar: Unicode.Scalar) in scalar == " " || scalar == "\t" || scalar == "\r" }
            var rest = line.drop(while: isBlank)
            var beginsLine = true
            while let first = rest.first {
                var text = String.UnicodeScalarView()
                if first == "\"" {
                    rest = rest.dropFirst()
                    while let scalar = rest.popFirst(), scalar != "\"" {
                        text.append(scalar == "\\" ? rest.popFirst() ?? scalar : scalar)
                    }
                } else {
                    text.append(contentsOf: rest.prefix { !isBlank($0) })
                    rest = rest.drop { !isBlank($0) }
                }
                words.append(Word(text: String(text), isQuoted: first == "\"", beginsLine: beginsLine))
                beginsLine = false
                rest = rest.drop(while: isBlank)
            }
        }
    }
}
