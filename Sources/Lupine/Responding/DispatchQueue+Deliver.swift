// SPDX-License-Identifier: MIT

import Dispatch
internal import LupineLoading

extension DispatchQueue? {
    /// Hands the response to a handler of the program's on the queue, or to one of the library's here and now if there is none.
    func deliver<Response: Sendable>(
        _ response: Response, to handler: @escaping @Sendable (Response) -> Void
    ) {
        assertNoLockIsHeld()
        guard let queue = self else { return handler(response) }
        queue.async { handler(response) }
    }
}
