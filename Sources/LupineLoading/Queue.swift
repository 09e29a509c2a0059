// SPDX-License-Identifier: MIT

/// What comes first goes first. Taking one out costs the same however many wait behind it. Other modules see through it.
@usableFromInline package struct Queue<Element> {
    @usableFromInline var storage: [Element?] = []
    @usableFromInline var head = 0

    /// So many places of elements that are gone are kept before the others move up.
    @usableFromInline static var mostSpent: Int { 64 }

    /// Nothing waits.
    @inlinable package init() {}

    /// Whether nothing waits.
    @inlinable package var isEmpty: Bool { head == storage.count }

    /// How many wait.
    @inlinable package var count: Int { storage.count - head }

    /// What goes next; nil when nothing waits.
    @inlinable package var first: Element? { head < storage.count ? storage[head] : nil }

    /// Adds one behind all others.
    @inlinable package mutating func append(_ element: Element) { storage.append(element) }

    /// Takes out the one that waits longest.
    @inlinable package mutating func popFirst() -> Element? {
        guard head < storage.count else { return nil }
        let element = storage[head].take()
        head += 1
        if head == storage.count {
            storage.removeAll(keepingCapacity: storage.count <= Self.mostSpent)
            head = 0
        } else if head >= Self.mostSpent, head * 2 >= storage.count {
            storage.removeFirst(head)
            head = 0
        }
        return element
    }

    /// Takes out the first one of which that holds: at once where it is the one that waits longest.
    @inlinable package mutating func removeFirst(where isWanted: (Element) -> Bool) -> Element? {
        if let first, isWanted(first) { return popFirst() }
        guard let index = storage[head...].firstIndex(where: { $0.map(isWanted) ?? false }) else {
            return nil
        }
        return storage.remove(at: index)
    }

    /// Takes out all, in order.
    @inlinable package mutating func takeAll() -> [Element] {
        defer { self = Queue() }
        return storage[head...].compactMap { $0 }
    }
}

extension Queue: Sendable where Element: Sendable {}
