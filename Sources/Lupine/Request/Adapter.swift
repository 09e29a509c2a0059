// SPDX-License-Identifier: MIT

public import LupineLoading

/// An adapter that calls a closure. `@unchecked Sendable`, because the compiler cannot check a class that can be subclassed. Its
/// only stored property is a constant.
open class Adapter: @unchecked Sendable, RequestInterceptor {
    private let handler: AdaptHandler

    /// Creates an adapter that calls `adaptHandler`.
    public init(_ adaptHandler: @escaping AdaptHandler) { handler = adaptHandler }

    /// Calls the closure.
    open func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
    ) {
        assertNoLockIsHeld()
        handler(urlRequest, session, completion)
    }

    /// Calls the closure.
    open func adapt(
        _ urlRequest: URLRequest, using state: RequestAdapterState,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
    ) {
        assertNoLockIsHeld()
        handler(urlRequest, state.session, completion)
    }
}

extension RequestAdapter where Self == Adapter {
    /// Returns an adapter that calls `closure`.
    public static func adapter(using closure: @escaping AdaptHandler) -> Adapter { Adapter(closure) }
}
