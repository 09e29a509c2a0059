// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

/// The services that a session provides to its requests. Implemented by `Session`. A request does not retain its delegate.
public protocol RequestDelegate: AnyObject, Sendable {
    /// The configuration of the session's `URLSession`.
    var sessionConfiguration: URLSessionConfiguration { get }
    /// Whether a request resumes automatically when its first handler is added.
    var startImmediately: Bool { get }

    /// Begins the first attempt of a request that was resumed and has no task yet. Called on any thread.
    func readyToPerform(request: Request)
    /// Releases a request whose handlers have been called. Called on the root queue.
    func cleanup(after request: Request)
    /// Asks the retriers whether to retry a request that has failed. Called on the root queue, as is `completion`.
    func retryResult(
        for request: Request, dueTo error: AFError, completion: @escaping @Sendable (RetryResult) -> Void)
    /// Begins another attempt of a request, after a delay in seconds; nil means no delay. Called on any thread.
    func retryRequest(_ request: Request, withDelay timeDelay: TimeInterval?)
}
