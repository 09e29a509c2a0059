// SPDX-License-Identifier: MIT

public import Dispatch

// Functions for all requests of a session that have not finished.

extension Session {
    /// Calls `action`, on the root queue, with the requests that were performed and whose handlers have not been called.
    public func withAllRequests(perform action: @escaping @Sendable (Set<Request>) -> Void) {
        rootQueue.async { action(self.mutableState.read { $0.activeRequests }) }
    }

    /// Cancels the requests that were performed and whose handlers have not been called, then calls `completion` on `queue`,
    /// possibly before those handlers are called.
    public func cancelAllRequests(
        completingOnQueue queue: DispatchQueue = .main, completion: (@Sendable () -> Void)? = nil
    ) {
        withAllRequests { requests in
            for request in requests { request.cancel() }
            if let completion { queue.async(execute: completion) }
        }
    }
}
