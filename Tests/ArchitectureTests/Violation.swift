// SPDX-License-Identifier: MIT

/// A violation of a rule: its place and the rule, in a form that editors can jump to.
struct Violation: Equatable, CustomStringConvertible {
    let path: String
    let line: Int
    let rule: String

    var description: String { "\(path):\(line): \(rule)" }
}

extension Array where Element == Violation {
    /// All violations, one per line, as a failing test prints them.
    var report: String { map(\.description).joined(separator: "\n") }
}
