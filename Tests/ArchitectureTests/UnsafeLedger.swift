// SPDX-License-Identifier: MIT

/// The list of the files that may contain unsafe code, `unsafe-files.txt`: one line each, `path | count | reason`.
///
/// The count is the number of marks in the file (`unsafe`, `@unchecked`, `@safe`), so that an increase is visible in a review. A
/// listed file without unsafe code or with another count is reported, like a file that is not listed.
struct UnsafeLedger {
    struct Entry: Equatable {
        let path: String
        let count: Int
        let reason: String
        let line: Int
    }

    static let path = "Tests/ArchitectureTests/unsafe-files.txt"

    private(set) var entries: [Entry] = []
    private(set) var malformed: [Violation] = []

    init(text: String) {
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let fields = line.split(separator: "|", maxSplits: 2, omittingEmptySubsequences: false).map(
                trimmed)
            if line.allSatisfy(\.isWhitespace) || line.hasPrefix("#") { continue }
            if fields.count == 3, let count = Int(fields[1]), !fields[0].isEmpty, !fields[2].isEmpty {
                entries.append(Entry(path: fields[0], count: count, reason: fields[2], line: index + 1))
            } else {
                malformed.append(
                    Violation(path: Self.path, line: index + 1, rule: "a line is `path | count | reason`"))
            }
        }
    }

    /// Returns a violation for unsafe code in files that are not listed, and for lines of the list that do not match their file.
    func violations(in files: [SourceFile]) -> [Violation] {
        var found = malformed
        for file in files {
            let traces = Self.traces(in: file)
            let count = Self.marks(in: file)
            let entry = entries.first { $0.path == file.path }
            switch (entry, traces.first) {
            case (nil, nil): continue
            case (nil, let first?):
                let rule =
                    "\(first.text) in a file that is not on the list; if it has to be here, add to \(Self.path): "
                found.append(
                    Violation(
                        path: file.path, line: first.line, rule: rule + "\(file.path) | \(count) | <reason>"))
            case (let entry?, nil):
                found.append(
                    Violation(
                        path: Self.path, line: entry.line,
                        rule: "\(entry.path) holds no unsafe code: remove it"))
            case (let entry?, _?) where entry.count != count:
                let rule = "\(entry.path) holds \(count) unsafe marks, the list says \(entry.count)"
                found.append(Violation(path: Self.path, line: entry.line, rule: rule))
            case (_?, _?): continue
            }
        }
        let known = Set(files.map(\.path))
        for entry in entries where !known.contains(entry.path) {
            found.append(Violation(path: Self.path, line: entry.line, rule: "there is no file \(entry.path)"))
        }
        for (index, entry) in entries.enumerated()
        where entries[..<index].contains(where: { $0.path == entry.path }) {
            found.append(Violation(path: Self.path, line: entry.line, rule: "\(entry.path) is listed twice"))
        }
        return found
    }

    /// Returns the tokens that show unsafe code: the marks, and the names of unsafe types and functions.
    static func traces(in file: SourceFile) -> [SourceFile.Token] {
        file.tokens.indices.filter { index in
            let text = file.tokens[index].text
            return isMark(at: index, in: file)
                || text.hasPrefix("withUnsafe")
                || (text.hasPrefix("Unsafe") && text.contains("Pointer"))
                || ["OpaquePointer", "Unmanaged", "unsafeBitCast", "unsafeDowncast"].contains(text)
        }
        .map { file.tokens[$0] }
    }

    /// Returns the number of marks in the file; `nonisolated(unsafe)` and `@unsafe` count as `unsafe`.
    static func marks(in file: SourceFile) -> Int {
        file.tokens.indices.count { isMark(at: $0, in: file) }
    }

    /// Returns whether a token is one of the marks that are counted.
    private static func isMark(at index: Int, in file: SourceFile) -> Bool {
        switch file.tokens[index].text {
        case "unsafe": file.token(index - 1) != "."
        case "unchecked", "safe": file.token(index - 1) == "@"
        default: false
        }
    }

    private func trimmed(_ text: Substring) -> String {
        var text = text
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
