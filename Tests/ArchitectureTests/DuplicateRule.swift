// SPDX-License-Identifier: MIT

/// No code stands twice: more than ten lines in a row, compared by their tokens, occur once.
///
/// Where two files have to have the same, each names the other and says why, in a comment: `the same as in `Other`: why`.
struct DuplicateRule {
    /// A run of equal lines in two places; the longest that begins there.
    struct Run: Equatable {
        let first: String
        let firstLine: Int
        let second: String
        let secondLine: Int
        let count: Int
    }

    static let most = 10

    /// Lines of code, those of each file in a row.
    private var lines: [(file: Int, number: Int, text: String)] = []
    private let files: [SourceFile]

    init(_ files: [SourceFile]) {
        self.files = files
        for (index, file) in files.enumerated() {
            var current = 0
            for token in file.tokens {
                if token.line != current {
                    // The tokens are without the texts of strings, which make the difference in a table.
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

    /// All runs of more than `most` equal lines.
    var runs: [Run] {
        let shortest = Self.most + 1
        guard lines.count >= shortest else { return [] }
        var places: [[String]: [Int]] = [:]
        for start in 0...(lines.count - shortest) where lines[start].file == lines[start + shortest - 1].file
        {
            places[lines[start..<(start + shortest)].map(\.text), default: []].append(start)
        }
        var found: [Run] = []
        for starts in places.values where starts.count > 1 {
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

    /// Whether two lines are equal, and in the files in which the run is.
    private func isEqual(_ left: Int, _ right: Int, _ first: Int, _ second: Int) -> Bool {
        guard left >= 0, right < lines.count else { return false }
        return lines[left].file == lines[first].file && lines[right].file == lines[second].file
            && lines[left].text == lines[right].text
    }

    /// The runs whose files do not name each other.
    var violations: [Violation] {
        let byPath = Dictionary(files.map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
        return runs.filter { run in
            guard let first = byPath[run.first], let second = byPath[run.second] else { return true }
            return !(Self.names(second, in: first) && Self.names(first, in: second))
        }.map { run in
            Violation(
                path: run.first, line: run.firstLine,
                rule: "\(run.count) lines are the same as at \(run.second):\(run.secondLine); one is enough")
        }
    }

    private static func names(_ other: SourceFile, in file: SourceFile) -> Bool {
        file.lines.contains { line in
            line.firstRange(of: "//") != nil && line.firstRange(of: "same as in `\(other.stem)`: ") != nil
        }
    }
}
