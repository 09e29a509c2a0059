// SPDX-License-Identifier: MIT

internal import Dispatch

extension DispatchQueue {
    /// Whether this is the same queue. Object identity is not enough: on Linux `DispatchQueue.main` is a new object on each
    /// access, while the specifics attached to a queue stay with it.
    func isSame(as other: DispatchQueue) -> Bool {
        self === other || EventMailbox.mailbox(of: self) === EventMailbox.mailbox(of: other)
    }
}
