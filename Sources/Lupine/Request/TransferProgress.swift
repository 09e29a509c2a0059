// SPDX-License-Identifier: MIT

internal import Dispatch
internal import Foundation
internal import LupineLoading

/// The progress of one direction of a request. The `Progress` object is created on first use; until then there are two numbers. A
/// value; `Request` keeps it under its lock.
struct TransferProgress {
    /// A handler and the queue on which it is called.
    final class Handler: Sendable {
        let queue: DispatchQueue
        let closure: Request.ProgressHandler
        /// Whether a call waits on the queue.
        private let isWaiting = Protected(false)

        init(queue: DispatchQueue, closure: @escaping Request.ProgressHandler) {
            self.queue = queue
            self.closure = closure
        }

        /// Calls the handler with the object, unless a call is waiting already: that call sees the newest numbers.
        fileprivate func tell(_ object: Progress) {
            let waits = isWaiting.write { isWaiting in
                defer { isWaiting = true }
                return isWaiting
            }
            if waits { return }
            queue.async { [self] in
                // Reset before the call, which may miss later changes.
                isWaiting.write(false)
                closure(object)
            }
        }
    }

    /// New numbers, to be published outside of the lock.
    struct Change {
        let object: Progress
        let total: Int64
        let completed: Int64
        let handler: Handler?

        /// Updates the `Progress` object, then tells the handler.
        func show() {
            assertNoLockIsHeld()
            object.show(completed: completed, of: total)
            handler?.tell(object)
        }
    }

    private(set) var total: Int64 = 0
    private(set) var completed: Int64 = 0
    var handler: Handler?
    /// The object, the same for the life of the request. There is always one if there is a handler.
    private(set) var object: Progress?

    /// Returns an object with these numbers, to be passed to `adopt`. Not under the lock: it may become a child of a `Progress`
    /// of the program.
    func makeObject() -> Progress {
        let progress = Progress(totalUnitCount: total)
        progress.completedUnitCount = completed
        return progress
    }

    /// Stores the object. Returns false if there is one already, or if the numbers have changed since it was created.
    mutating func adopt(_ new: Progress) -> Bool {
        guard object == nil, new.totalUnitCount == total, new.completedUnitCount == completed else {
            return false
        }
        object = new
        return true
    }

    /// Stores new numbers. Returns nil if there is no object to update.
    mutating func update(completed: Int64, total: Int64) -> Change? {
        self.completed = completed
        self.total = total
        guard let object else { return nil }
        return Change(object: object, total: total, completed: completed, handler: handler)
    }

    /// Sets both numbers to zero. No handler is called.
    mutating func reset() -> Change? {
        total = 0
        completed = 0
        return object.map { Change(object: $0, total: 0, completed: 0, handler: nil) }
    }
}
