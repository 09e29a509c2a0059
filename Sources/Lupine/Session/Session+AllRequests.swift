// SPDX-License-Identifier: MIT

public import Dispatch

// Methods for all active requests of a session: those that were performed and whose handlers have not been called.

extension Session {
    /// Calls `action` on the root queue with the active requests: those that were performed and whose handlers have not been
    /// called.
    public func withAllRequests(perform action: @escaping @Sendable (Set<Request>) -> Void) {
        rootQueue.async { action(self.mutableState.read { $0.activeRequests }) }
    }

    /// Cancels the active requests, then calls `completion` on `queue`. The handlers of the requests may be called later.
    public func cancelAllRequests(
        completingOnQueue queue: DispatchQueue = .main, completion: (@Sendable () -> Void)? = nil
    ) {
        withAllRequests { requests in
            for request in requests { request.cancel() }
            if let completion { queue.async(execute: completion) }
        }
    }
}
