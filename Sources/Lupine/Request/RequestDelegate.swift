// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

/// What a request needs of its session. Implemented by `Session`; a request never keeps its delegate alive.
public protocol RequestDelegate: AnyObject, Sendable {
    /// The configuration of the session's `URLSession`.
    var sessionConfiguration: URLSessionConfiguration { get }
    /// Whether a request resumes by itself when it is given its first handler.
    var startImmediately: Bool { get }

    /// Runs the pipeline for a request that was resumed and has no task yet. Any thread.
    func readyToPerform(request: Request)
    /// Lets go of a request that has called its handlers. Called on the root queue.
    func cleanup(after request: Request)
    /// Asks the retriers. Called on the root queue; the answer comes on the root queue.
    func retryResult(
        for request: Request, dueTo error: AFError, completion: @escaping @Sendable (RetryResult) -> Void)
    /// Has a request run its pipeline again, after so many seconds. Any thread.
    func retryRequest(_ request: Request, withDelay timeDelay: TimeInterval?)
}
