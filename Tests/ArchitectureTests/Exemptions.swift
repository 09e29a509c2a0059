// SPDX-License-Identifier: MIT

/// A list of exemptions: lines of `path | rule | reason`; `#` starts a comment. An exemption without a reason is not applied.
struct Exemptions {
    let path: String
    private(set) var lines: [(path: String, rule: String, line: Int)] = []
    private(set) var malformed: [Violation] = []

    init(path: String, text: String) {
        self.path = path
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if line.hasPrefix("#") || line.allSatisfy(\.isWhitespace) { continue }
            let fields = line.split(separator: "|", maxSplits: 2, omittingEmptySubsequences: false)
                .map {
                    String($0.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
                }
            if fields.count == 3, fields.allSatisfy({ !$0.isEmpty }) {
                lines.append((fields[0], fields[1], index + 1))
            } else {
                malformed.append(
                    Violation(path: path, line: index + 1, rule: "a line is `path | rule | reason`"))
            }
        }
    }

    /// Returns the violations that remain, and the exemptions that no longer match one.
    func applied(to violations: [(rule: String, violation: Violation)]) -> [Violation] {
        let remaining = violations.filter { item in
            !lines.contains { $0.path == item.violation.path && $0.rule == item.rule }
        }
        let unused = lines.filter { line in
            !violations.contains { $0.violation.path == line.path && $0.rule == line.rule }
        }
        return malformed + remaining.map(\.violation)
            + unused.map {
                Violation(
                    path: path, line: $0.line,
                    rule: "\($0.path) needs no exemption from \($0.rule): remove it")
            }
    }
}
