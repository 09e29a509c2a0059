// SPDX-License-Identifier: MIT

internal import Dispatch
public import Foundation
public import LupineLoading

// The services that a session provides to its requests.

extension Session: RequestDelegate {
    /// The configuration of the `URLSession`.
    public var sessionConfiguration: URLSessionConfiguration { session.configuration }

    /// Whether requests resume automatically when their first handler is added.
    public var startImmediately: Bool { startRequestsImmediately }

    /// Starts the request's first attempt, on the root queue.
    public func readyToPerform(request: Request) { perform(request) }

    /// Removes a request whose handlers have been called from the active requests.
    public func cleanup(after request: Request) {
        mutableState.write { _ = $0.activeRequests.remove(request) }
    }

    /// Asks the retriers of the session and of the request. `completion` is called on the root queue.
    public func retryResult(
        for request: Request, dueTo error: AFError, completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        guard let retrier = retrier(for: request) else { return rootQueue.async { completion(.doNotRetry) } }
        assertNoLockIsHeld()
        retrier.retry(request, for: self, dueTo: error) { result in
            self.rootQueue.async {
                guard case .doNotRetryWithError(let retryError) = result else { return completion(result) }
                completion(
                    .doNotRetryWithError(
                        AFError.requestRetryFailed(retryError: retryError, originalError: error)))
            }
        }
    }

    /// Starts the request's next attempt after a delay in seconds, unless the session has been deallocated by then.
    public func retryRequest(_ request: Request, withDelay timeDelay: TimeInterval?) {
        // The references are weak: the timer retains the closure during the delay, and must not keep session and request alive.
        let retry = { @Sendable [weak self, weak request] in
            guard let self, let request else { return }
            request.performStepOnRoot {
                // False if the request was cancelled during the delay.
                let hasBegun = request.prepareForRetry()
                if hasBegun { self.performAttempt(of: request) }
            }
        }
        // Usually the request is active. It is not if it had finished, and a handler that was added later causes the retry.
        mutableState.write { _ = $0.activeRequests.insert(request) }
        if let timeDelay {
            rootQueue.after(timeDelay, by: session.clock, execute: retry)
        } else {
            rootQueue.async(execute: retry)
        }
    }
}
