// SPDX-License-Identifier: MIT

/// Forbids words: traps and notes in the sources, sleeps in the tests, and in all files paths outside of the repository.
enum WordRule: CaseIterable {
    /// `try!`, `as!`, `fatalError(`: no input may cause a trap.
    case trap
    /// Notes to do something later.
    case note
    /// Functions that sleep: a test waits for an event, never for a duration.
    case sleep

    /// The tests of the manual clock. Their calls of `sleep` wait until the test advances the clock, which is an event.
    private static let manualClockTests = "Tests/LupineTestingTests/ManualClockTests.swift"

    func violations(in file: SourceFile) -> [Violation] {
        switch self {
        case .trap:
            return sequences([["try", "!"], ["as", "!"], ["fatalError", "("]], in: file)
        case .note:
            let words = ["TO" + "DO", "FIX" + "ME"]
            return file.lines.enumerated().flatMap { index, line in
                words.filter(line.contains).map { violation(file, index + 1, $0) }
            }
        case .sleep:
            if file.path == Self.manualClockTests { return [] }
            return sequences(
                [["sleep", "("], ["usleep", "("], ["nanosleep", "("], ["clock_nanosleep", "("]], in: file)
        }
    }

    private func sequences(_ sequences: [[String]], in file: SourceFile) -> [Violation] {
        file.tokens.indices.flatMap { index in
            sequences.filter { words in words.indices.allSatisfy { file.token(index + $0) == words[$0] } }
                .map { violation(file, file.tokens[index].line, $0.joined()) }
        }
    }

    private func violation(_ file: SourceFile, _ line: Int, _ word: String) -> Violation {
        switch self {
        case .trap:
            Violation(
                path: file.path, line: line, rule: "`\(word)` in Sources: throw, or prove it in the types")
        case .note: Violation(path: file.path, line: line, rule: "`\(word)`: do it, or leave it unsaid")
        case .sleep:
            Violation(path: file.path, line: line, rule: "`\(word)` in a test: wait for the event itself")
        }
    }

    /// Returns a violation for each path in `text` to a file outside of the repository, which exists on one machine only.
    static func outsidePaths(in text: String, path: String) -> [Violation] {
        let folder = "work"
        return text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().compactMap {
            index, line in
            let leadsOut =
                line.contains("sha" + "red/") || line.contains("/tmp/" + "bash_")
                || line.ranges(of: "/\(folder)/").contains { range in
                    // A folder of that name inside the repository is allowed; a path that starts with it is not.
                    guard range.lowerBound > line.startIndex else { return true }
                    let before = line[line.index(before: range.lowerBound)]
                    return !(before.isLetter || before.isNumber || "_.-}$".contains(before))
                }
            let rule = "a path outside of the repository: it stands alone"
            return leadsOut ? Violation(path: path, line: index + 1, rule: rule) : nil
        }
    }
}
