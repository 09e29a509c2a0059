// SPDX-License-Identifier: MIT

/// A collection in insertion order that stores its first element inline. There is nearly always only one (the attempts of a
/// request, its handlers, the transactions of a task), and no array is allocated for it. Inlinable into other modules.
@usableFromInline package struct SmallArray<Element> {
    /// The oldest element.
    @usableFromInline package internal(set) var first: Element?
    @usableFromInline var others: [Element] = []

    /// Creates an empty collection.
    @inlinable package init() {}

    /// The newest element.
    @inlinable package var last: Element? { others.last ?? first }

    /// All elements, oldest first.
    @inlinable package var all: [Element] { first.map { [$0] + others } ?? [] }

    /// Whether there are no elements.
    @inlinable package var isEmpty: Bool { first == nil }

    /// The number of elements.
    @inlinable package var count: Int { first == nil ? 0 : 1 + others.count }

    /// Whether an element satisfies the predicate. Does not copy the elements, as `Sequence.contains(where:)` does.
    @inlinable package func contains(where isIt: (borrowing Element) -> Bool) -> Bool {
        if let holds = first.map(isIt), holds { return true }
        return others.contains { isIt($0) }
    }

    /// The element at index `place`; nil past the last.
    @inlinable package subscript(place: Int) -> Element? {
        if place == 0 { return first }
        return place <= others.count ? others[place - 1] : nil
    }

    /// Appends an element.
    @inlinable package mutating func append(_ element: consuming Element) {
        if first == nil { first = element } else { others.append(element) }
    }

    /// Removes and returns all elements.
    @inlinable package mutating func takeAll() -> SmallArray {
        var all = SmallArray()
        swap(&all, &self)
        return all
    }

    /// Removes and returns the oldest element.
    @inlinable package mutating func popFirst() -> Element? {
        let oldest = first.take()
        if !others.isEmpty { first = others.removeFirst() }
        return oldest
    }
}

extension SmallArray: Sendable where Element: Sendable {}

extension SmallArray: ExpressibleByArrayLiteral {
    /// Creates a collection of the given elements.
    @inlinable package init(arrayLiteral elements: Element...) {
        first = elements.first
        others = Array(elements.dropFirst())
    }
}

extension SmallArray: Sequence {
    /// Iterates over the elements, oldest first.
    @usableFromInline package struct Iterator: IteratorProtocol {
        @usableFromInline let elements: SmallArray
        @usableFromInline var place = 0

        @inlinable init(_ elements: SmallArray) { self.elements = elements }

        /// The next element; nil past the last.
        @inlinable package mutating func next() -> Element? {
            defer { place += 1 }
            return elements[place]
        }
    }

    /// An iterator that starts with the oldest element.
    @inlinable package func makeIterator() -> Iterator { Iterator(self) }
}
