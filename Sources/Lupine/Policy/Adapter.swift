// SPDX-License-Identifier: MIT

public import LupineLoading

/// An adapter that runs a closure. It can be subclassed, so the compiler cannot see that it is `Sendable`: all it stores
/// is one constant.
open class Adapter: @unchecked Sendable, RequestInterceptor {
    private let handler: AdaptHandler

    /// An adapter that runs `adaptHandler`.
    public init(_ adaptHandler: @escaping AdaptHandler) { handler = adaptHandler }

    /// Runs the closure.
    open func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
    ) {
        assertNoLockIsHeld()
        handler(urlRequest, session, completion)
    }

    /// Runs the closure.
    open func adapt(
        _ urlRequest: URLRequest, using state: RequestAdapterState,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
    ) {
        assertNoLockIsHeld()
        handler(urlRequest, state.session, completion)
    }
}

extension RequestAdapter where Self == Adapter {
    /// An adapter that runs `closure`.
    public static func adapter(using closure: @escaping AdaptHandler) -> Adapter { Adapter(closure) }
}
