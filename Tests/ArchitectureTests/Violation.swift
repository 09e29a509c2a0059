// SPDX-License-Identifier: MIT

/// One breach of a rule of the house: where it is and which rule it breaks, in a form that editors can jump to.
struct Violation: Equatable, CustomStringConvertible {
    let path: String
    let line: Int
    let rule: String

    var description: String { "\(path):\(line): \(rule)" }
}

extension Array where Element == Violation {
    /// All of them, one per line: what a failing test prints.
    var report: String { map(\.description).joined(separator: "\n") }
}
