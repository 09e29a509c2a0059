// SPDX-License-Identifier: MIT

/// A first-in, first-out queue. Removing the first element takes amortized constant time. Inlinable into other modules.
@usableFromInline package struct Queue<Element> {
    /// The elements from index `head` on. The slots before it are nil: their elements were removed.
    @usableFromInline var storage: [Element?] = []
    /// The index of the first element; `storage.count` if the queue is empty.
    @usableFromInline var head = 0

    /// The number of emptied slots at which the remaining elements move to the front, if at least half of all slots are empty.
    @usableFromInline static var maxEmptiedSlots: Int { 64 }

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

    /// Removes and returns the first element; nil if the queue is empty.
    @inlinable package mutating func popFirst() -> Element? {
        guard head < storage.count else { return nil }
        // `Optional.take()` leaves nil in the slot, so that the queue releases the element.
        let element = storage[head].take()
        head += 1
        if head == storage.count {
            storage.removeAll(keepingCapacity: storage.count <= Self.maxEmptiedSlots)
            head = 0
        } else if head >= Self.maxEmptiedSlots, head * 2 >= storage.count {
            storage.removeFirst(head)
            head = 0
        }
        return element
    }

    /// Removes and returns the first element that satisfies the predicate; nil if there is none. Takes constant time if that
    /// element is the first of the queue.
    @inlinable package mutating func removeFirst(where predicate: (Element) -> Bool) -> Element? {
        if let first, predicate(first) { return popFirst() }
        guard let index = storage[head...].firstIndex(where: { $0.map(predicate) ?? false }) else {
            return nil
        }
        return storage.remove(at: index)
    }

    /// Removes all elements, and returns them in their order.
    @inlinable package mutating func takeAll() -> [Element] {
        defer { self = Queue() }
        return storage[head...].compactMap { $0 }
    }
}

extension Queue: Sendable where Element: Sendable {}
