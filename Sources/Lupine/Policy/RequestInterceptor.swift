// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

/// What an adapter may know about the request that it adapts.
public struct RequestAdapterState: Sendable {
    /// The `id` of the `Request`.
    public let requestID: UUID
    /// The session that performs it.
    public let session: Session
}

/// Changes each `URLRequest` before it is sent: on the first attempt and on every retry, not on redirects.
///
/// Called on the session's request queue, or where the adapter before it completed. The completion has to be called
/// exactly once, from any thread; a request whose adapter never answers is never sent.
public protocol RequestAdapter: Sendable {
    /// Gives the request to go on with, or why there is none: the request then fails with `requestAdaptationFailed`.
    func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void)

    /// The same, with more to know. This is the method that is called; by default it calls the other.
    func adapt(
        _ urlRequest: URLRequest, using state: RequestAdapterState,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void)
}

extension RequestAdapter {
    /// Calls `adapt(_:for:completion:)`.
    public func adapt(
        _ urlRequest: URLRequest, using state: RequestAdapterState,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
    ) {
        adapt(urlRequest, for: state.session, completion: completion)
    }
}

/// What is to become of a request that failed.
public enum RetryResult: Sendable {
    /// It is tried again at once.
    case retry
    /// It is tried again after so many seconds.
    case retryWithDelay(TimeInterval)
    /// The error stands.
    case doNotRetry
    /// The request fails with `requestRetryFailed`, which carries this error and the original one.
    case doNotRetryWithError(any Error)
}

/// Decides whether a request that failed is tried again.
///
/// Called on the session's root queue, or where the retrier before it completed. The completion has to be called exactly
/// once, from any thread.
public protocol RequestRetrier: Sendable {
    /// Answers for a request that failed with `error`. `request.retryCount` is the number of retries made so far.
    func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void)
}

/// Adapts requests and decides about retries. Both methods are optional.
public protocol RequestInterceptor: RequestAdapter, RequestRetrier {}

extension RequestInterceptor {
    /// Gives the request as it is.
    public func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
    ) {
        completion(.success(urlRequest))
    }

    /// Answers `doNotRetry`.
    public func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        completion(.doNotRetry)
    }
}

/// An adapter as a closure.
public typealias AdaptHandler =
    @Sendable (
        URLRequest, Session, _ completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) -> Void

/// A retrier as a closure.
public typealias RetryHandler =
    @Sendable (
        Request, Session, any Error, _ completion: @escaping @Sendable (RetryResult) -> Void
    ) -> Void
