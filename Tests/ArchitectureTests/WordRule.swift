// SPDX-License-Identifier: MIT

/// Forbids words: traps and notes in the sources, sleeps in the tests, and anywhere the paths of a machine outside the
/// repository.
enum WordRule: CaseIterable {
    /// `try!`, `as!`, `fatalError(`: input from outside never traps.
    case trap
    /// Notes to do something later.
    case promise
    /// A test waits for an event, never for a duration.
    case sleep

    /// The tests of the manual clock, in which a call of `sleep` waits for the test to advance the clock, which is an event.
    private static let sleeperByHand = "Tests/LupineTestingTests/ManualClockTests.swift"

    func violations(in file: SourceFile) -> [Violation] {
        switch self {
        case .trap:
            return sequences([["try", "!"], ["as", "!"], ["fatalError", "("]], in: file)
        case .promise:
            let words = ["TO" + "DO", "FIX" + "ME"]
            return file.lines.enumerated().flatMap { index, line in
                words.filter(line.contains).map { violation(file, index + 1, $0) }
            }
        case .sleep:
            if file.path == Self.sleeperByHand { return [] }
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
        case .promise: Violation(path: file.path, line: line, rule: "`\(word)`: do it, or leave it unsaid")
        case .sleep:
            Violation(path: file.path, line: line, rule: "`\(word)` in a test: wait for the event itself")
        }
    }

    /// Returns the paths in `text` that lead out of the repository, to a machine that the reader does not have.
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
