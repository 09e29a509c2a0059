// SPDX-License-Identifier: MIT

/// A `.netrc` file, which has user names and passwords for hosts. Its entries are `machine HOST login NAME password PASSWORD`, or
/// `default` in place of `machine HOST`. Their words are separated by any white space.
///
/// A word that begins with `#` starts a comment if it begins a line or stands where a keyword is expected. The comment ends with
/// the line. Elsewhere, such as after `login` or `password` on the same line, the word is a value.
///
/// If a value is missing and the next line begins another entry, the words of that entry are not read as the value. So no entry
/// gets the password of another host.
struct NetrcFile: Sendable {
    /// The credentials for a host.
    private struct Entry {
        /// The host; nil in the default entry.
        let host: String?
        var credentials = Credentials(user: "", password: "")
    }

    /// The entries in the order of the file.
    private var entries: [Entry] = []

    /// Parses the text of a file. Ignores words that it does not know.
    init(_ text: String) {
        var words = Words(text)
        // Nil before the first entry, and in an entry without a host, which is ignored.
        var entry: Entry?
        reading: while let word = words.nextKeyword() {
            switch Self.possibleKeyword(word) {
            case "machine":
                if let entry { entries.append(entry) }
                entry = words.nextValue().map { Entry(host: $0) }
            case "default":
                if let entry { entries.append(entry) }
                entry = Entry(host: nil)
            case "login":
                // The value is read even without an entry. An assignment to `entry?.` alone would not evaluate the right side.
                let user = words.nextValue() ?? ""
                entry?.credentials.user = user
            case "password":
                // Read even without an entry, like the user.
                let password = words.nextValue() ?? ""
                entry?.credentials.password = password
            case "account":
                // The value is read so that it is not taken for a keyword.
                _ = words.nextValue()
            case "macdef":
                // The definition of a macro ends with an empty line. Entries after it are ignored.
                break reading
            default: break
            }
        }
        if let entry { entries.append(entry) }
    }

    /// Returns the credentials of the first entry for a host, else of the default entry; nil if there is neither.
    func credentials(for host: String) -> Credentials? {
        let host = host.lowercased()
        // `==` would also accept a name that is only canonically equivalent in Unicode.
        let entry =
            entries.first { $0.host?.lowercased().utf8.elementsEqual(host.utf8) == true }
            ?? entries.first { $0.host == nil }
        return entry?.credentials
    }

    /// Returns the word if it is short enough to be a keyword, else an empty text: comparing long words takes long. The longest
    /// keyword is `password`.
    private static func possibleKeyword(_ word: String) -> String {
        word.utf8.count <= "password".utf8.count ? word : ""
    }

    /// Reads the words of the file one after the other.
    private struct Words {
        private struct Word {
            /// The word without quotes and escapes.
            let text: String
            /// Whether the word is in double quotes. A quoted word never begins a comment. Where a value is expected, it never
            /// begins an entry.
            let isQuoted: Bool
            /// Whether the word is the first of its line.
            let beginsLine: Bool

            /// Whether the word begins with `#`, which starts a comment where no value is expected.
            var beginsComment: Bool { !isQuoted && text.unicodeScalars.first == "#" }
            /// Whether the word is the first keyword of an entry, and not a quoted value.
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

        /// Returns the next word, which should be a keyword; nil at the end. Skips comments.
        mutating func nextKeyword() -> String? {
            while let word = unread.popFirst() {
                if !word.beginsComment { return word.text }
                skipLine()
            }
            return nil
        }

        /// Returns the value of the keyword that `nextKeyword` has returned; nil if it is missing. The value may be on a later
        /// line. Skips comment lines before it.
        mutating func nextValue() -> String? {
            while let word = unread.first {
                // The value is missing: the next entry begins.
                if word.beginsLine, word.beginsEntry { return nil }
                unread.removeFirst()
                if !word.beginsLine || !word.beginsComment { return word.text }
                skipLine()
            }
            return nil
        }

        /// Skips the unread words of the current line.
        private mutating func skipLine() { unread = unread.drop { !$0.beginsLine } }

        /// Adds the words of a line. Compares Unicode scalars, since a quote with a combining mark after it is a different
        /// `Character`.
        private static func add(_ line: Substring.UnicodeScalarView, to words: inout [Word]) {
            let isBlank = { (scalar: Unicode.Scalar) in scalar == " " || scalar == "\t" || scalar == "\r" }
            var unparsed = line.drop(while: isBlank)
            var beginsLine = true
            while let first = unparsed.first {
                let isQuoted = first == "\""
                var text = String.UnicodeScalarView()
                if isQuoted {
                    unparsed = unparsed.dropFirst()
                    // A backslash makes the next character an ordinary one, and is not part of the text. The end of the line
                    // closes an open quote.
                    while let scalar = unparsed.popFirst(), scalar != "\"" {
                        text.append(scalar == "\\" ? unparsed.popFirst() ?? scalar : scalar)
                    }
                } else {
                    text.append(contentsOf: unparsed.prefix { !isBlank($0) })
                    unparsed = unparsed.drop { !isBlank($0) }
                }
                words.append(Word(text: String(text), isQuoted: isQuoted, beginsLine: beginsLine))
                beginsLine = false
                unparsed = unparsed.drop(while: isBlank)
            }
        }
    }
}
