// SPDX-License-Identifier: MIT

internal import Dispatch
internal import Foundation
internal import LupineLoading

/// How far one direction of a request is. The `Progress` object is made when somebody asks for it; until then there are
/// two numbers. A value; `Request` keeps it under its lock.
struct TransferProgress {
    /// A handler and where it is called.
    struct Handler: Sendable {
        let queue: DispatchQueue
        let closure: Request.ProgressHandler
    }

    /// What is to be done outside of the lock about new numbers.
    struct Change {
        let object: Progress
        let total: Int64
        let completed: Int64
        let handler: Handler?

        /// Shows the numbers to whoever holds the object, then to the handler.
        func show() {
            if object.totalUnitCount == total {
                object.completedUnitCount = completed
            } else {
                // Foundation stops the program when a total becomes none, or meets some fractions of large ones; not when it
                // was unknown before.
                object.totalUnitCount = NSURLSessionTransferSizeUnknown
                object.completedUnitCount = completed
                object.totalUnitCount = total
            }
            guard let handler else { return }
            let object = object
            handler.queue.deliver { handler.closure(object) }
        }
    }

    private(set) var total: Int64 = 0
    private(set) var completed: Int64 = 0
    var handler: Handler?
    private var made: Progress?

    /// The one object for the life of the request.
    mutating func object() -> Progress {
        if let made { return made }
        let progress = Progress(totalUnitCount: total)
        progress.completedUnitCount = completed
        made = progress
        return progress
    }

    /// Takes new numbers; nil when nobody is there to be shown them.
    mutating func update(completed: Int64, total: Int64) -> Change? {
        self.completed = completed
        self.total = total
        guard handler != nil || made != nil else { return nil }
        return Change(object: object(), total: total, completed: completed, handler: handler)
    }

    /// Back to nothing of nothing. No handler is told.
    mutating func reset() -> Change? {
        total = 0
        completed = 0
        return made.map { Change(object: $0, total: 0, completed: 0, handler: nil) }
    }
}
