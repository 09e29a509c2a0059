// SPDX-License-Identifier: MIT

/// A `.netrc` file with entries `machine NAME login NAME password WORD` and `default …`, separated by any white space.
///
/// At the start of a line, or where a keyword is expected, a word that begins with `#` starts a comment up to the end of the
/// line. Elsewhere, such as after `login` or `password`, it is a value. If a value is missing, the words of the next entry are
/// not read in its place, so that an entry never gets the password of another host.
struct NetrcFile: Sendable {
    /// The entries in order; the host of the default entry is nil.
    private var entries: [(host: String?, credentials: Credentials)] = []

    init(_ text: String) {
        var words = Words(text)
        // Nil before the first entry, and `.some(nil)` in the default entry.
        var host: String??
        var login = ""
        var password = ""
        func currentEntry() -> (host: String?, credentials: Credentials)? {
            guard let host else { return nil }
            return (host, Credentials(user: login, password: password))
        }
        reading: while let word = words.nextKeyword() {
            switch Self.possibleKeyword(word) {
            case "machine", "default":
                if let entry = currentEntry() { entries.append(entry) }
                (login, password) = ("", "")
                // An entry whose name is missing is dropped.
                if word == "default" { host = .some(nil) } else { host = words.nextValue().map { .some($0) } }
            case "login": login = words.nextValue() ?? ""
            case "password": password = words.nextValue() ?? ""
            case "account": _ = words.nextValue()
            case "macdef": break reading
            default: break
            }
        }
        if let entry = currentEntry() { entries.append(entry) }
    }

    /// Returns the credentials of the first entry for a host, else of the default entry.
    func credentials(for host: String) -> Credentials? {
        let host = host.lowercased()
        let found =
            entries.first { $0.host?.lowercased().utf8.elementsEqual(host.utf8) == true }
            ?? entries.first { $0.host == nil }
        return found?.credentials
    }

    /// Returns the word if it is short enough to be a keyword, else an empty text: comparing long words takes long.
    private static func possibleKeyword(_ word: String) -> String { word.utf8.count <= 8 ? word : "" }

    /// The words of the file, some of them quoted.
    private struct Words {
        private struct Word {
            let text: String
            let isQuoted: Bool
            let beginsLine: Bool

            /// Whether the word begins with `#`, which starts a comment where no value is expected.
            var beginsComment: Bool { !isQuoted && text.unicodeScalars.first == "#" }
            var beginsEntry: Bool {
                !isQuoted && ["machine", "default"].contains(NetrcFile.possibleKeyword(text))
            }
        }

        /// The words that have not been read yet.
        private var unread: ArraySlice<Word>

        init(_ text: String) {
            var words: [Word] = []
            for line in text.unicodeScalars.split(separator: "\n") { Self.add(line, to: &words) }
            unread = words[...]
        }

        /// Returns the next word, skipping comments.
        mutating func nextKeyword() -> String? {
            while let word = unread.popFirst() {
                if !word.beginsComment { return word.text }
                skipLine()
            }
            return nil
        }

        /// Returns the value of the keyword just read; nil if it is missing.
        mutating func nextValue() -> String? {
            while let word = unread.first {
                if word.beginsLine, word.beginsEntry { return nil }
                unread.removeFirst()
                if !word.beginsLine || !word.beginsComment { return word.text }
                skipLine()
            }
            return nil
        }

        /// Skips the words that are left on the line of the last word.
        private mutating func skipLine() { unread = unread.drop { !$0.beginsLine } }

        /// Adds the words of a line. Compares Unicode scalars, since a quote with a combining mark after it is a different
        /// `Character`.
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
