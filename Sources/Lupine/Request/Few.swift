// SPDX-License-Identifier: MIT

/// Elements in the order in which they were added, where there is nearly always one: the attempts of a request, its handlers. No
/// array is made for that one.
struct Few<Element> {
    /// The oldest.
    private(set) var first: Element?
    private var others: [Element] = []

    /// The newest.
    var last: Element? { others.last ?? first }

    /// All, the oldest first.
    var all: [Element] { first.map { [$0] + others } ?? [] }

    /// Whether there is none.
    var isEmpty: Bool { first == nil }

    /// How many there are.
    var count: Int { first == nil ? 0 : 1 + others.count }

    /// One of them, by its place; nil behind the last.
    subscript(place: Int) -> Element? {
        if place == 0 { return first }
        return place <= others.count ? others[place - 1] : nil
    }

    /// Adds the newest.
    mutating func append(_ element: Element) {
        if first == nil { first = element } else { others.append(element) }
    }
}

extension Few: Sequence {
    /// Goes through them, the oldest first.
    struct Iterator: IteratorProtocol {
        private let elements: Few
        private var place = 0

        fileprivate init(_ elements: Few) { self.elements = elements }

        mutating func next() -> Element? {
            defer { place += 1 }
            return elements[place]
        }
    }

    func makeIterator() -> Iterator { Iterator(self) }
}
