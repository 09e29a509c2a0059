// SPDX-License-Identifier: MIT

internal import Foundation

/// A difference between a request and a pattern.
struct StubDifference: Sendable {
    /// The differing part: `method`, `url`, `header Accept`, `body`.
    let label: String
    /// The value that the pattern expects; nil for none.
    let expected: String?
    /// The value of the request; nil for none.
    let actual: String?
    /// The weight of the difference. The nearest stub is the one with the smallest sum of weights.
    var weight = 1

    /// The difference as lines: `-` for expected values and `+` for actual ones.
    var lines: [String] {
        let old = expected.map(Self.lines) ?? []
        let new = actual.map(Self.lines) ?? []
        if old.count <= 1, new.count <= 1 {
            return old.map { "- \(label): \($0)" } + new.map { "+ \(label): \($0)" }
        }
        return ["  \(label):"] + Self.merged(old, new)
    }

    private static func lines(_ text: String) -> [String] { text.components(separatedBy: "\n") }

    /// Merges the texts line by line, marked with `-`, `+` or a blank; lines that both have occur once.
    private static func merged(_ old: [String], _ new: [String]) -> [String] {
        var (removed, inserted) = (Set<Int>(), Set<Int>())
        for change in new.difference(from: old) {
            switch change {
            case .remove(let offset, _, _): removed.insert(offset)
            case .insert(let offset, _, _): inserted.insert(offset)
            }
        }
        var (merged, oldIndex, newIndex) = ([String](), 0, 0)
        while oldIndex < old.count || newIndex < new.count {
            if removed.contains(oldIndex) {
                merged.append("-   \(old[oldIndex])")
                oldIndex += 1
            } else if inserted.contains(newIndex) {
                merged.append("+   \(new[newIndex])")
                newIndex += 1
            } else {
                merged.append("    \(old[oldIndex])")
                oldIndex += 1
                newIndex += 1
            }
        }
        return merged
    }
}
