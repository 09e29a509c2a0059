// SPDX-License-Identifier: MIT

internal import LupineLoading

/// A retrier that runs a closure. It can be subclassed, so the compiler cannot see that it is `Sendable`: all it stores
/// is one constant.
open class Retrier: @unchecked Sendable, RequestInterceptor {
    private let handler: RetryHandler

    /// A retrier that runs `retryHandler`.
    public init(_ retryHandler: @escaping RetryHandler) { handler = retryHandler }

    /// Runs the closure.
    open func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        assertNoLockIsHeld()
        handler(request, session, error, completion)
    }
}

extension RequestRetrier where Self == Retrier {
    /// A retrier that runs `closure`.
    public static func retrier(using closure: @escaping RetryHandler) -> Retrier { Retrier(closure) }
}
