// SPDX-License-Identifier: MIT

/// A first-in, first-out queue. Removing the first element costs the same however many follow. Inlinable into other modules.
@usableFromInline package struct Queue<Element> {
    @usableFromInline var storage: [Element?] = []
    @usableFromInline var head = 0

    /// The number of emptied slots that are kept before the remaining elements move to the front.
    @usableFromInline static var maxSpent: Int { 64 }

    /// Creates an empty queue.
    @inlinable package init() {}

    /// Whether the queue is empty.
    @inlinable package var isEmpty: Bool { head == storage.count }

    /// The number of elements.
    @inlinable package var count: Int { storage.count - head }

    /// The first element; nil if the queue is empty.
    @inlinable package var first: Element? { head < storage.count ? storage[head] : nil }

    /// Appends an element.
    @inlinable package mutating func append(_ element: Element) { storage.append(element) }

    /// Removes and returns the first element.
    @inlinable package mutating func popFirst() -> Element? {
        guard head < storage.count else { return nil }
        let element = storage[head].take()
        head += 1
        if head == storage.count {
            storage.removeAll(keepingCapacity: storage.count <= Self.maxSpent)
            head = 0
        } else if head >= Self.maxSpent, head * 2 >= storage.count {
            storage.removeFirst(head)
            head = 0
        }
        return element
    }

    /// Removes and returns the first element that satisfies the predicate; in constant time if that is the first in the queue.
    @inlinable package mutating func removeFirst(where predicate: (Element) -> Bool) -> Element? {
        if let first, predicate(first) { return popFirst() }
        guard let index = storage[head...].firstIndex(where: { $0.map(predicate) ?? false }) else {
            return nil
        }
        return storage.remove(at: index)
    }

    /// Removes and returns all elements in order.
    @inlinable package mutating func takeAll() -> [Element] {
        defer { self = Queue() }
        return storage[head...].compactMap { $0 }
    }
}

extension Queue: Sendable where Element: Sendable {}
