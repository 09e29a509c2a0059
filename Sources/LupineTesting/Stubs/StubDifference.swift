// SPDX-License-Identifier: MIT

internal import Foundation

/// A difference between a request and a pattern.
struct StubDifference: Sendable {
    /// What differs: `method`, `url`, `header Accept`, `body`.
    let label: String
    /// The value that the pattern expects; nil for none.
    let expected: String?
    /// The value of the request; nil for none.
    let actual: String?
    /// The weight of the difference. The nearest stub is the one with the smallest sum of weights.
    var weight = 1

    /// The difference as lines: `-` for expected values and `+` for actual ones.
    var lines: [String] {
        let expectedLines = expected.map(Self.lines) ?? []
        let actualLines = actual.map(Self.lines) ?? []
        if expectedLines.count <= 1, actualLines.count <= 1 {
            return expectedLines.map { "- \(label): \($0)" } + actualLines.map { "+ \(label): \($0)" }
        }
        return ["  \(label):"] + Self.merged(expectedLines, actualLines)
    }

    /// Splits a text into its lines.
    private static func lines(_ text: String) -> [String] { text.components(separatedBy: "\n") }

    /// Merges the texts line by line, marked with `-`, `+` or a blank; lines that both texts have occur once.
    private static func merged(_ expectedLines: [String], _ actualLines: [String]) -> [String] {
        // The indices of the lines that only one of the texts has.
        var (removed, inserted) = (Set<Int>(), Set<Int>())
        for change in actualLines.difference(from: expectedLines) {
            switch change {
            case .remove(let offset, _, _): removed.insert(offset)
            case .insert(let offset, _, _): inserted.insert(offset)
            }
        }
        var mergedLines: [String] = []
        var (expectedIndex, actualIndex) = (0, 0)
        while expectedIndex < expectedLines.count || actualIndex < actualLines.count {
            if removed.contains(expectedIndex) {
                mergedLines.append("-   \(expectedLines[expectedIndex])")
                expectedIndex += 1
            } else if inserted.contains(actualIndex) {
                mergedLines.append("+   \(actualLines[actualIndex])")
                actualIndex += 1
            } else {
                mergedLines.append("    \(expectedLines[expectedIndex])")
                expectedIndex += 1
                actualIndex += 1
            }
        }
        return mergedLines
    }
}
