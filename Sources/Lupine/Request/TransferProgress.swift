// SPDX-License-Identifier: MIT

internal import Dispatch
internal import Foundation
internal import LupineLoading

/// How far one direction of a request is. The `Progress` object is made when somebody asks for it; until then there are
/// two numbers. A value; `Request` keeps it under its lock.
struct TransferProgress {
    /// A handler and where it is called.
    final class Handler: Sendable {
        let queue: DispatchQueue
        let closure: Request.ProgressHandler
        /// Whether a call waits on the queue.
        private let isWaiting = Protected(false)

        init(queue: DispatchQueue, closure: @escaping Request.ProgressHandler) {
            self.queue = queue
            self.closure = closure
        }

        /// Has the handler called with the object, unless a call waits already: that one finds the newest numbers.
        fileprivate func tell(_ object: Progress) {
            let waits = isWaiting.write { isWaiting in
                defer { isWaiting = true }
                return isWaiting
            }
            if waits { return }
            queue.async { [self] in
                // Before the call, which may miss what changes from here on.
                isWaiting.write(false)
                closure(object)
            }
        }
    }

    /// What is to be done outside of the lock about new numbers.
    struct Change {
        let object: Progress
        let total: Int64
        let completed: Int64
        let handler: Handler?

        /// Shows the numbers to whoever holds the object, then to the handler.
        func show() {
            assertNoLockIsHeld()
            object.show(completed: completed, of: total)
            handler?.tell(object)
        }
    }

    private(set) var total: Int64 = 0
    private(set) var completed: Int64 = 0
    var handler: Handler?
    /// The one object for the life of the request. Whoever sets the handler sees to it that there is one.
    private(set) var object: Progress?

    /// An object with these numbers, to be adopted. Not under the lock: it may become the child of one of the program's.
    func makeObject() -> Progress {
        let progress = Progress(totalUnitCount: total)
        progress.completedUnitCount = completed
        return progress
    }

    /// Makes this the object, unless there is one or the numbers have changed since it was made.
    mutating func adopt(_ new: Progress) -> Bool {
        guard object == nil, new.totalUnitCount == total, new.completedUnitCount == completed else {
            return false
        }
        object = new
        return true
    }

    /// Takes new numbers; nil when nobody is there to be shown them.
    mutating func update(completed: Int64, total: Int64) -> Change? {
        self.completed = completed
        self.total = total
        guard let object else { return nil }
        return Change(object: object, total: total, completed: completed, handler: handler)
    }

    /// Back to nothing of nothing. No handler is told.
    mutating func reset() -> Change? {
        total = 0
        completed = 0
        return object.map { Change(object: $0, total: 0, completed: 0, handler: nil) }
    }
}
