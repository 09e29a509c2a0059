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
    /// The weight of the difference when the nearest stub is chosen.
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

    /// Merges both texts line by line; common lines occur once.
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
