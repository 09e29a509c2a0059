// SPDX-License-Identifier: MIT

import Dispatch
internal import LupineLoading

extension DispatchQueue? {
    /// Passes the response to a handler of the program: on the queue, or synchronously if there is no queue.
    func deliver<Response: Sendable>(
        _ response: Response, to handler: @escaping @Sendable (Response) -> Void
    ) {
        assertNoLockIsHeld()
        guard let queue = self else { return handler(response) }
        queue.async { handler(response) }
    }
}
