// SPDX-License-Identifier: MIT

internal import Dispatch
internal import Foundation
internal import LupineLoading

/// The progress of a request's upload or download: two byte counts and, once the program has used it, a `Progress` object.
///
/// It is a value type, which `Request` keeps under its lock.
struct TransferProgress {
    /// A handler and the queue on which it is called.
    final class Handler: Sendable {
        let queue: DispatchQueue
        let closure: Request.ProgressHandler
        /// Whether a call has been enqueued on the queue and has not begun.
        private let isCallEnqueued = Protected(false)

        init(queue: DispatchQueue, closure: @escaping Request.ProgressHandler) {
            self.queue = queue
            self.closure = closure
        }

        /// Enqueues a call of the handler with `object`, unless one is enqueued already: that call sees the newest counts.
        fileprivate func enqueueCall(with object: Progress) {
            let wasEnqueued = isCallEnqueued.write { isEnqueued in
                defer { isEnqueued = true }
                return isEnqueued
            }
            if wasEnqueued { return }
            queue.async { [self] in
                // The flag is reset before the call: a change during the call needs another one, as the handler may not see it.
                isCallEnqueued.write(false)
                closure(object)
            }
        }
    }

    /// New byte counts, which `publish` applies outside of the lock.
    struct Change {
        let object: Progress
        let total: Int64
        let completed: Int64
        let handler: Handler?

        /// Updates the `Progress` object, then enqueues a call of the handler.
        func publish() {
            assertNoLockIsHeld()
            object.setCounts(completed: completed, of: total)
            handler?.enqueueCall(with: object)
        }
    }

    /// The number of bytes to transfer.
    private(set) var total: Int64 = 0
    /// The number of bytes transferred so far.
    private(set) var completed: Int64 = 0
    var handler: Handler?
    /// The `Progress` object, the same for the life of the request. Never nil if there is a handler.
    private(set) var object: Progress?

    /// Returns a new `Progress` with the present counts, which the caller passes to `store`. Not called under the lock, because
    /// the object may become a child of a `Progress` of the program.
    func makeObject() -> Progress {
        let progress = Progress(totalUnitCount: total)
        progress.completedUnitCount = completed
        return progress
    }

    /// Stores a new object. Returns false if there is one already, or if the counts have changed since `new` was created.
    mutating func store(_ new: Progress) -> Bool {
        guard object == nil, new.totalUnitCount == total, new.completedUnitCount == completed else {
            return false
        }
        object = new
        return true
    }

    /// Stores new counts. Returns the change to publish, or nil if there is no object.
    mutating func update(completed: Int64, total: Int64) -> Change? {
        self.completed = completed
        self.total = total
        guard let object else { return nil }
        return Change(object: object, total: total, completed: completed, handler: handler)
    }

    /// Adds to the number of bytes transferred, and stores a new total. Returns the change like `update`.
    mutating func add(_ count: Int64, of total: Int64) -> Change? {
        update(completed: completed + count, total: total)
    }

    /// Sets `total` and `completed` to zero. Returns the change to publish, which calls no handler, or nil if there is no object.
    mutating func reset() -> Change? {
        total = 0
        completed = 0
        return object.map { Change(object: $0, total: 0, completed: 0, handler: nil) }
    }
}
