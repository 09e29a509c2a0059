// SPDX-License-Identifier: MIT

/// The keys and numbers of pending changes, in the order of the calls. Taking the first element takes constant time on average.
struct ChangeQueue: Sendable {
    /// The elements; those before `start` have been taken.
    private var elements: [(key: CacheKey?, number: UInt64)] = []
    private var start = 0

    /// The largest number of elements whose storage an empty queue keeps.
    private static let maxKeptCount = 1_024

    /// Creates an empty queue.
    init() {}

    var isEmpty: Bool { start == elements.count }

    /// The number of the first change; nil if the queue is empty.
    var firstNumber: UInt64? { isEmpty ? nil : elements[start].number }

    mutating func append(_ key: CacheKey, _ number: UInt64) { elements.append((key, number)) }

    /// Removes and returns the first element; nil if the queue is empty.
    mutating func popFirst() -> (key: CacheKey, number: UInt64)? {
        guard !isEmpty, let key = elements[start].key.take() else { return nil }
        let number = elements[start].number
        start += 1
        if isEmpty {
            elements.removeAll(keepingCapacity: elements.count <= Self.maxKeptCount)
            start = 0
        } else if start > Self.maxKeptCount, start > elements.count / 2 {
            // Fewer elements are moved than were taken.
            elements.removeFirst(start)
            start = 0
        }
        return (key, number)
    }
}
