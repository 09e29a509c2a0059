// SPDX-License-Identifier: MIT

/// Elements in the order in which they were added, where there is nearly always one: the attempts of a request, its handlers, the
/// hops of a task. No array is made for that one. Other modules see through it.
@usableFromInline package struct Few<Element> {
    /// The oldest.
    @usableFromInline package internal(set) var first: Element?
    @usableFromInline var others: [Element] = []

    /// None.
    @inlinable package init() {}

    /// The newest.
    @inlinable package var last: Element? { others.last ?? first }

    /// All, the oldest first.
    @inlinable package var all: [Element] { first.map { [$0] + others } ?? [] }

    /// Whether there is none.
    @inlinable package var isEmpty: Bool { first == nil }

    /// How many there are.
    @inlinable package var count: Int { first == nil ? 0 : 1 + others.count }

    /// Whether that holds for one of them, which are not copied for it: a sequence's own way copies each.
    @inlinable package func contains(where isIt: (borrowing Element) -> Bool) -> Bool {
        if let holds = first.map(isIt), holds { return true }
        return others.contains { isIt($0) }
    }

    /// One of them, by its place; nil behind the last.
    @inlinable package subscript(place: Int) -> Element? {
        if place == 0 { return first }
        return place <= others.count ? others[place - 1] : nil
    }

    /// Adds the newest.
    @inlinable package mutating func append(_ element: consuming Element) {
        if first == nil { first = element } else { others.append(element) }
    }

    /// Takes all out.
    @inlinable package mutating func takeAll() -> Few {
        var all = Few()
        swap(&all, &self)
        return all
    }

    /// Takes the oldest out.
    @inlinable package mutating func popFirst() -> Element? {
        let oldest = first.take()
        if !others.isEmpty { first = others.removeFirst() }
        return oldest
    }
}

extension Few: Sendable where Element: Sendable {}

extension Few: ExpressibleByArrayLiteral {
    /// These.
    @inlinable package init(arrayLiteral elements: Element...) {
        first = elements.first
        others = Array(elements.dropFirst())
    }
}

extension Few: Sequence {
    /// Goes through them, the oldest first.
    @usableFromInline package struct Iterator: IteratorProtocol {
        @usableFromInline let elements: Few
        @usableFromInline var place = 0

        @inlinable init(_ elements: Few) { self.elements = elements }

        /// The next one; nil behind the last.
        @inlinable package mutating func next() -> Element? {
            defer { place += 1 }
            return elements[place]
        }
    }

    /// Begins with the oldest.
    @inlinable package func makeIterator() -> Iterator { Iterator(self) }
}
