// SPDX-License-Identifier: MIT

internal import Dispatch

/// Tells whether the caller is on a certain root queue, or on a queue that targets it. One for each such queue, which keeps it.
final class RootQueueMark: Sendable {
    private static let key = DispatchSpecificKey<RootQueueMark>()
    /// How many queues have a mark. ThreadSanitizer takes a lock around nothing for a race.
    private static let count = Protected(0)

    private init() {}

    /// The mark of that queue, which gets one when it has none.
    static func mark(of queue: DispatchQueue) -> RootQueueMark {
        count.write { count in
            if let mark = queue.getSpecific(key: key) { return mark }
            let mark = RootQueueMark()
            queue.setSpecific(key: key, value: mark)
            count += 1
            return mark
        }
    }

    /// Whether the caller is on the queue.
    var isCurrent: Bool { DispatchQueue.getSpecific(key: Self.key) === self }
}
