// SPDX-License-Identifier: MIT

import Dispatch
internal import LupineLoading

extension DispatchQueue? {
    /// Calls a handler of the program with the response: asynchronously on this queue, or synchronously if the queue is nil.
    func deliver<Response: Sendable>(
        _ response: Response, to handler: @escaping @Sendable (Response) -> Void
    ) {
        assertNoLockIsHeld()
        guard let queue = self else { return handler(response) }
        queue.async { handler(response) }
    }
}
