// SPDX-License-Identifier: MIT

/// A collection in insertion order that stores its first element inline, so that no array is allocated for a single element.
///
/// Used where there is nearly always only one element: for the attempts of a request, its handlers, and the hops of a load. A hop
/// is one request with its response; a redirect or a challenge leads to the next hop. Inlinable into other modules.
@usableFromInline package struct SmallArray<Element> {
    /// The oldest element; nil if there are no elements.
    @usableFromInline package internal(set) var first: Element?
    /// The elements after the first, oldest first.
    @usableFromInline var others: [Element] = []

    /// Creates an empty collection.
    @inlinable package init() {}

    /// The newest element; nil if there are no elements.
    @inlinable package var last: Element? { others.last ?? first }

    /// All elements, oldest first.
    @inlinable package var all: [Element] { first.map { [$0] + others } ?? [] }

    /// Whether there are no elements.
    @inlinable package var isEmpty: Bool { first == nil }

    /// The number of elements.
    @inlinable package var count: Int { first == nil ? 0 : 1 + others.count }

    /// Whether an element satisfies the predicate. Does not copy the elements, unlike `Sequence.contains(where:)`.
    @inlinable package func contains(where predicate: (borrowing Element) -> Bool) -> Bool {
        if let firstMatches = first.map(predicate), firstMatches { return true }
        return others.contains { predicate($0) }
    }

    /// Calls `body` with each element, oldest first. Copies neither the collection nor the elements, unlike a loop.
    @inlinable package func forEachElement(_ body: (borrowing Element) -> Void) {
        _ = first.map(body)
        for other in others { body(other) }
    }

    /// The element at `index`; nil if `index` is not less than `count`.
    @inlinable package subscript(index: Int) -> Element? {
        if index == 0 { return first }
        return index <= others.count ? others[index - 1] : nil
    }

    /// Appends an element.
    @inlinable package mutating func append(_ element: consuming Element) {
        if first == nil { first = element } else { others.append(element) }
    }

    /// Removes and returns all elements.
    @inlinable package mutating func takeAll() -> SmallArray {
        var removed = SmallArray()
        swap(&removed, &self)
        return removed
    }

    /// Removes and returns the oldest element; nil if there are no elements.
    @inlinable package mutating func popFirst() -> Element? {
        let oldest = first.take()
        if !others.isEmpty { first = others.removeFirst() }
        return oldest
    }
}

extension SmallArray: Sendable where Element: Sendable {}

extension SmallArray: ExpressibleByArrayLiteral {
    /// Creates a collection of these elements.
    @inlinable package init(arrayLiteral elements: Element...) {
        first = elements.first
        others = Array(elements.dropFirst())
    }
}

extension SmallArray: Sequence {
    /// Iterates over the elements, oldest first.
    @usableFromInline package struct Iterator: IteratorProtocol {
        @usableFromInline let elements: SmallArray
        @usableFromInline var index = 0

        @inlinable init(_ elements: SmallArray) { self.elements = elements }

        /// Returns the next element; nil after the last one.
        @inlinable package mutating func next() -> Element? {
            defer { index += 1 }
            return elements[index]
        }
    }

    /// An iterator that starts with the oldest element.
    @inlinable package func makeIterator() -> Iterator { Iterator(self) }
}
