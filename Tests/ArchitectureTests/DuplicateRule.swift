// SPDX-License-Identifier: MIT

/// Finds duplicated code: runs of more than ten consecutive lines, compared by their tokens, that occur twice.
///
/// A duplicate that is needed in two files is permitted if a comment of each names the other file and the reason: `the same as in
/// `Other`: reason`.
struct DuplicateRule {
    /// A run of equal lines at two positions, as long as possible.
    struct Run: Equatable {
        let first: String
        let firstLine: Int
        let second: String
        let secondLine: Int
        let count: Int
    }

    /// The number of consecutive lines that may occur twice.
    static let maximumLines = 10

    /// The lines of code of all files, file by file.
    private var lines: [(file: Int, number: Int, text: String)] = []
    private let files: [SourceFile]

    init(_ files: [SourceFile]) {
        self.files = files
        for (index, file) in files.enumerated() {
            var current = 0
            for token in file.tokens {
                if token.line != current {
                    // Tokens do not include the texts of strings, in which the rows of a table differ: adds the whole line.
                    let line = file.lines[token.line - 1]
                    lines.append(
                        (
                            index, token.line,
                            line.utf8.contains(UInt8(ascii: "\"")) ? line + token.text : token.text
                        ))
                    current = token.line
                } else {
                    lines[lines.count - 1].text += " " + token.text
                }
            }
        }
    }

    /// All runs of more than `maximumLines` equal lines.
    var runs: [Run] {
        let shortest = Self.maximumLines + 1
        guard lines.count >= shortest else { return [] }
        var startsByText: [[String]: [Int]] = [:]
        for start in 0...(lines.count - shortest) where lines[start].file == lines[start + shortest - 1].file
        {
            startsByText[lines[start..<(start + shortest)].map(\.text), default: []].append(start)
        }
        var found: [Run] = []
        for starts in startsByText.values where starts.count > 1 {
            for (index, first) in starts.enumerated() {
                for second in starts[(index + 1)...] where !isEqual(first - 1, second - 1, first, second) {
                    var count = shortest
                    while isEqual(first + count, second + count, first, second) { count += 1 }
                    found.append(
                        Run(
                            first: files[lines[first].file].path, firstLine: lines[first].number,
                            second: files[lines[second].file].path, secondLine: lines[second].number,
                            count: count))
                }
            }
        }
        return found.sorted { ($0.first, $0.firstLine, $0.second) < ($1.first, $1.firstLine, $1.second) }
    }

    /// Returns whether the lines `left` and `right` are equal, and in the same files as `first` and `second`.
    private func isEqual(_ left: Int, _ right: Int, _ first: Int, _ second: Int) -> Bool {
        guard left >= 0, right < lines.count else { return false }
        return lines[left].file == lines[first].file && lines[right].file == lines[second].file
            && lines[left].text == lines[right].text
    }

    /// A violation for each run whose files do not name each other.
    var violations: [Violation] {
        let byPath = Dictionary(files.map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
        return runs.filter { run in
            guard let first = byPath[run.first], let second = byPath[run.second] else { return true }
            return !(Self.mentions(second, in: first) && Self.mentions(first, in: second))
        }.map { run in
            Violation(
                path: run.first, line: run.firstLine,
                rule: "\(run.count) lines are the same as at \(run.second):\(run.secondLine); one is enough")
        }
    }

    /// Returns whether a comment in `file` permits the duplication of code of `other`.
    private static func mentions(_ other: SourceFile, in file: SourceFile) -> Bool {
        file.lines.contains { line in
            line.firstRange(of: "//") != nil && line.firstRange(of: "same as in `\(other.stem)`: ") != nil
        }
    }
}
