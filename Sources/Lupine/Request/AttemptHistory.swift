// SPDX-License-Identifier: MIT

/// What each attempt of a request adds to, in order: nearly always there is one attempt, and no array is made.
struct AttemptHistory<Element> {
    private var earlier: [Element] = []
    /// The newest.
    private(set) var last: Element?

    /// The oldest.
    var first: Element? { earlier.first ?? last }

    /// All, the oldest first.
    var all: [Element] { last.map { earlier + [$0] } ?? [] }

    /// Whether there is none.
    var isEmpty: Bool { last == nil }

    /// Adds the newest.
    mutating func append(_ element: Element) {
        if let last { earlier.append(last) }
        last = element
    }
}
