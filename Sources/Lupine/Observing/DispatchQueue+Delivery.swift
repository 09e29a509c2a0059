// SPDX-License-Identifier: MIT

import Dispatch
internal import LupineLoading

extension DispatchQueue {
    /// Puts a handler of the program on the queue, after all events that are to be delivered there.
    func deliver(_ handler: @escaping @Sendable () -> Void) {
        if let batch = ResumptionBatch.current, let mailbox = EventMailbox.existing(of: self),
            batch.take(mailbox)
        {
            mailbox.putTurn(on: self)
        }
        async(execute: handler)
    }
}

extension DispatchQueue? {
    /// Passes the response to a handler of the program: on the queue, see `deliver(_:)`, or synchronously if there is no queue.
    func deliver<Response: Sendable>(
        _ response: Response, to handler: @escaping @Sendable (Response) -> Void
    ) {
        assertNoLockIsHeld()
        guard let queue = self else { return handler(response) }
        queue.deliver { handler(response) }
    }
}
