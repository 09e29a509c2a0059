// SPDX-License-Identifier: MIT

internal import Dispatch
public import Foundation
public import LupineLoading

// What a session does for its requests.

extension Session: RequestDelegate {
    /// The configuration of the `URLSession`.
    public var sessionConfiguration: URLSessionConfiguration { session.configuration }

    /// Whether requests resume by themselves when they are given their first handler.
    public var startImmediately: Bool { startRequestsImmediately }

    /// Runs the pipeline for a request.
    public func readyToPerform(request: Request) { perform(request) }

    /// Lets go of a request that has called its handlers.
    public func cleanup(after request: Request) {
        mutableState.write { _ = $0.activeRequests.remove(request) }
    }

    /// Asks the retriers, session's and request's. The answer comes in a step; at once, in that of the caller, where there is none.
    public func retryResult(
        for request: Request, dueTo error: AFError, completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        guard let retrier = retrier(for: request) else { return completion(.doNotRetry) }
        // It may have been added since the step began.
        request.onRootQueue {
            assertNoLockIsHeld()
            retrier.retry(request, for: self, dueTo: error) { result in
                request.step(calledByProgram: true) {
                    guard case .doNotRetryWithError(let retryError) = result else {
                        return completion(result)
                    }
                    completion(
                        .doNotRetryWithError(
                            AFError.requestRetryFailed(retryError: retryError, originalError: error)))
                }
            }
        }
    }

    /// Has a request run its pipeline again, after so many seconds; a session that has gone meanwhile does not.
    public func retryRequest(_ request: Request, withDelay timeDelay: TimeInterval?) {
        // A queue keeps what is to run later until then: a request that ends before is not to wait for its hour.
        let retry = { @Sendable [weak self, weak request] in
            guard let self, let request else { return }
            request.step {
                if request.prepareForRetry() { self.performAttempt(of: request) }
            }
        }
        // A handler that was added behind the end may be why: then the session has let go of the request.
        mutableState.write { _ = $0.activeRequests.insert(request) }
        if let timeDelay {
            rootQueue.after(timeDelay, by: session.clock, execute: retry)
        } else {
            rootQueue.async(execute: retry)
        }
    }
}
