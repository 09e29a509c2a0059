// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

/// The context in which an adapter is called.
public struct RequestAdapterState: Sendable {
    /// The `id` of the `Request`.
    public let requestID: UUID
    /// The session that performs the request.
    public let session: Session
}

/// Changes each `URLRequest` before it is sent: on the first attempt and on every retry, but not on redirects.
///
/// The session calls the adapter on its request queue, or on the thread on which the previous adapter completed. The adapter must
/// call the completion exactly once, on any thread; without that call the request is never sent.
public protocol RequestAdapter: Sendable {
    /// Passes the adapted request to the completion, or an error: the request then fails with `requestAdaptationFailed`.
    func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void)

    /// Adapts a request, with the context in which it is sent. The library calls only this method. The default implementation
    /// calls `adapt(_:for:completion:)`.
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

/// The decision of a retrier about a failed request.
public enum RetryResult: Sendable {
    /// The request is retried at once.
    case retry
    /// The request is retried after the delay in seconds.
    case retryWithDelay(TimeInterval)
    /// The request fails with the original error.
    case doNotRetry
    /// The request fails with `requestRetryFailed`, which contains this error and the original one.
    case doNotRetryWithError(any Error)
}

/// Decides whether a failed request is retried.
///
/// The session calls the retrier on its root queue, or on the thread on which the previous retrier completed. The retrier must
/// call the completion exactly once, on any thread.
public protocol RequestRetrier: Sendable {
    /// Decides about a request that failed with `error`. `request.retryCount` is the number of retries made so far.
    func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void)
}

/// Adapts requests and decides about retries. `adapt` and `retry` are optional: by default, requests are not changed and not
/// retried.
public protocol RequestInterceptor: RequestAdapter, RequestRetrier {}

extension RequestInterceptor {
    /// Completes with the unchanged request.
    public func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
    ) {
        completion(.success(urlRequest))
    }

    /// Completes with `doNotRetry`.
    public func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        completion(.doNotRetry)
    }
}

/// A closure that does the work of `RequestAdapter`.
public typealias AdaptHandler =
    @Sendable (
        URLRequest, Session, _ completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) -> Void

/// A closure that does the work of `RequestRetrier`.
public typealias RetryHandler =
    @Sendable (
        Request, Session, any Error, _ completion: @escaping @Sendable (RetryResult) -> Void
    ) -> Void
