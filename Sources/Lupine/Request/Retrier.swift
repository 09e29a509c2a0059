// SPDX-License-Identifier: MIT

internal import LupineLoading

/// A retrier that calls a closure. `@unchecked Sendable`, because the compiler cannot check a class that can be subclassed. Its
/// only stored property is a constant.
open class Retrier: @unchecked Sendable, RequestInterceptor {
    private let handler: RetryHandler

    /// Creates a retrier that calls `retryHandler`.
    public init(_ retryHandler: @escaping RetryHandler) { handler = retryHandler }

    /// Calls the closure.
    open func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        assertNoLockIsHeld()
        handler(request, session, error, completion)
    }
}

extension RequestRetrier where Self == Retrier {
    /// Returns a retrier that calls `closure`.
    public static func retrier(using closure: @escaping RetryHandler) -> Retrier { Retrier(closure) }
}
