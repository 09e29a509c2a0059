// SPDX-License-Identifier: MIT

public import LupineLoading

/// Combines several adapters and retriers, which are called one after the other.
///
/// Each adapter receives the result of the adapter before it, until one fails. Retriers are called until one completes with a
/// result other than `doNotRetry`.
///
/// `@unchecked Sendable`, because the compiler cannot check a class that can be subclassed. It stores two constants.
open class Interceptor: @unchecked Sendable, RequestInterceptor {
    /// The adapters, in order.
    public let adapters: [any RequestAdapter]
    /// The retriers, in order.
    public let retriers: [any RequestRetrier]

    /// Creates an interceptor from two closures.
    public init(adaptHandler: @escaping AdaptHandler, retryHandler: @escaping RetryHandler) {
        adapters = [Adapter(adaptHandler)]
        retriers = [Retrier(retryHandler)]
    }

    /// Creates an interceptor from an adapter and a retrier.
    public init(adapter: any RequestAdapter, retrier: any RequestRetrier) {
        adapters = [adapter]
        retriers = [retrier]
    }

    /// Creates an interceptor from adapters, retriers and interceptors. `interceptors` are called after all adapters, and after
    /// all retriers.
    public init(
        adapters: [any RequestAdapter] = [], retriers: [any RequestRetrier] = [],
        interceptors: [any RequestInterceptor] = []
    ) {
        self.adapters = adapters + interceptors
        self.retriers = retriers + interceptors
    }

    /// Calls the adapters, each with the result of the adapter before it.
    open func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
    ) {
        Self.adapt(urlRequest, with: adapters[...], completion) { adapter, request, next in
            assertNoLockIsHeld()
            adapter.adapt(request, for: session, completion: next)
        }
    }

    /// Calls the adapters, each with the result of the adapter before it.
    open func adapt(
        _ urlRequest: URLRequest, using state: RequestAdapterState,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
    ) {
        Self.adapt(urlRequest, with: adapters[...], completion) { adapter, request, next in
            assertNoLockIsHeld()
            adapter.adapt(request, using: state, completion: next)
        }
    }

    private typealias Completion = @Sendable (Result<URLRequest, any Error>) -> Void
    /// Calls an adapter with a request. The adapter calls the completion.
    private typealias AdapterCall = @Sendable (any RequestAdapter, URLRequest, @escaping Completion) -> Void

    /// Passes the request through the adapters, calling each of them with `call`, then calls `completion`.
    private static func adapt(
        _ request: URLRequest, with adapters: ArraySlice<any RequestAdapter>,
        _ completion: @escaping Completion, call: @escaping AdapterCall
    ) {
        guard let adapter = adapters.first else { return completion(.success(request)) }
        call(adapter, request) { result in
            switch result {
            case .success(let adapted): adapt(adapted, with: adapters.dropFirst(), completion, call: call)
            case .failure: completion(result)
            }
        }
    }

    /// Calls the retriers in order.
    open func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        Self.retry(request, for: session, dueTo: error, asking: retriers[...], completion)
    }

    /// Asks the retriers in order, until one completes with a result other than `doNotRetry`.
    private static func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        asking retriers: ArraySlice<any RequestRetrier>,
        _ completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        guard let retrier = retriers.first else { return completion(.doNotRetry) }
        assertNoLockIsHeld()
        retrier.retry(request, for: session, dueTo: error) { result in
            switch result {
            case .retry, .retryWithDelay, .doNotRetryWithError: completion(result)
            case .doNotRetry:
                retry(request, for: session, dueTo: error, asking: retriers.dropFirst(), completion)
            }
        }
    }
}

extension RequestInterceptor where Self == Interceptor {
    /// Creates an interceptor from two closures.
    public static func interceptor(
        adapter: @escaping AdaptHandler, retrier: @escaping RetryHandler
    ) -> Interceptor {
        Interceptor(adaptHandler: adapter, retryHandler: retrier)
    }

    /// Creates an interceptor from an adapter and a retrier.
    public static func interceptor(
        adapter: any RequestAdapter, retrier: any RequestRetrier
    ) -> Interceptor {
        Interceptor(adapter: adapter, retrier: retrier)
    }

    /// Creates an interceptor from adapters, retriers and interceptors. `interceptors` are called after all adapters, and after
    /// all retriers.
    public static func interceptor(
        adapters: [any RequestAdapter] = [], retriers: [any RequestRetrier] = [],
        interceptors: [any RequestInterceptor] = []
    ) -> Interceptor {
        Interceptor(adapters: adapters, retriers: retriers, interceptors: interceptors)
    }
}
