// SPDX-License-Identifier: MIT

internal import Foundation

/// One respect in which a request is not what a pattern wants. A value.
struct StubDifference: Sendable {
    /// Which: `method`, `url`, `header Accept`, `body`.
    let label: String
    /// What the pattern wants; nil for nothing.
    let expected: String?
    /// What the request has; nil for nothing.
    let actual: String?
    /// How far it makes them differ.
    var weight = 1

    /// Lines with `-` for what was wanted and `+` for what came.
    var lines: [String] {
        let old = expected.map(Self.lines) ?? []
        let new = actual.map(Self.lines) ?? []
        if old.count <= 1, new.count <= 1 {
            return old.map { "- \(label): \($0)" } + new.map { "+ \(label): \($0)" }
        }
        return ["  \(label):"] + Self.merged(old, new)
    }

    private static func lines(_ text: String) -> [String] { text.components(separatedBy: "\n") }

    /// Both texts line by line, those that they share once.
    private static func merged(_ old: [String], _ new: [String]) -> [String] {
        var (gone, come) = (Set<Int>(), Set<Int>())
        for change in new.difference(from: old) {
            switch change {
            case .remove(let offset, _, _): gone.insert(offset)
            case .insert(let offset, _, _): come.insert(offset)
            }
        }
        var (merged, left, right) = ([String](), 0, 0)
        while left < old.count || right < new.count {
            if gone.contains(left) {
                merged.append("-   \(old[left])")
                left += 1
            } else if come.contains(right) {
                merged.append("+   \(new[right])")
                right += 1
            } else {
                merged.append("    \(old[left])")
                left += 1
                right += 1
            }
        }
        return merged
    }
}
