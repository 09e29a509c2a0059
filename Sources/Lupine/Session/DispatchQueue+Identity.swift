// SPDX-License-Identifier: MIT

internal import Dispatch

extension DispatchQueue {
    /// Whether this is the same queue. Objects do not tell: `DispatchQueue.main` is a new one at each look on Linux, while what
    /// is attached to a queue stays with it.
    func isSame(as other: DispatchQueue) -> Bool {
        self === other || EventMailbox.mailbox(of: self) === EventMailbox.mailbox(of: other)
    }
}
