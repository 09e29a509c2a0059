// SPDX-License-Identifier: MIT

internal import Dispatch

extension DispatchQueue {
    /// Whether both objects represent the same queue. Object identity is not enough: on Linux `DispatchQueue.main` is a new
    /// object on each access. The mailbox is attached to the queue itself (`setSpecific`), so both objects have the same mailbox.
    func isSame(as other: DispatchQueue) -> Bool {
        self === other || EventMailbox.mailbox(of: self) === EventMailbox.mailbox(of: other)
    }
}
