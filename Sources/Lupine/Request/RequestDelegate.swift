// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

/// The interface of a session that its requests use. Implemented by `Session`; a request never keeps its delegate alive.
public protocol RequestDelegate: AnyObject, Sendable {
    /// The configuration of the session's `URLSession`.
    var sessionConfiguration: URLSessionConfiguration { get }
    /// Whether a request resumes automatically when its first handler is added.
    var startImmediately: Bool { get }

    /// Runs the pipeline for a request that was resumed and has no task yet. Any thread.
    func readyToPerform(request: Request)
    /// Releases a request whose handlers have been called. Called on the root queue.
    func cleanup(after request: Request)
    /// Asks the retriers. Called on the root queue, as is `completion`.
    func retryResult(
        for request: Request, dueTo error: AFError, completion: @escaping @Sendable (RetryResult) -> Void)
    /// Runs the pipeline of a request again, after a delay in seconds. Any thread.
    func retryRequest(_ request: Request, withDelay timeDelay: TimeInterval?)
}
