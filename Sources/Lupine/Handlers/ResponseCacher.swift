// SPDX-License-Identifier: MIT

public import LupineLoading

/// Caches responses, does not cache them, or changes the cached response.
public struct ResponseCacher: CachedResponseHandler {
    /// How a cacheable response is handled.
    public enum Behavior: Sendable {
        /// The response is stored as proposed.
        case cache
        /// The response is not stored.
        case doNotCache
        /// The response that the closure returns is stored; nil stores nothing. The closure is called on the session's root
        /// queue.
        case modify(
            @Sendable (_ task: URLSessionDataTask, _ cachedResponse: CachedURLResponse) -> CachedURLResponse?)
    }

    /// A cacher that stores responses.
    public static let cache = ResponseCacher(behavior: .cache)
    /// A cacher that does not store responses.
    public static let doNotCache = ResponseCacher(behavior: .doNotCache)

    /// How a cacheable response is handled.
    public let behavior: Behavior

    /// Creates a cacher with this behaviour.
    public init(behavior: Behavior) { self.behavior = behavior }

    /// Completes at once, according to `behavior`.
    public func dataTask(
        _ task: URLSessionDataTask, willCacheResponse response: CachedURLResponse,
        completion: @escaping (CachedURLResponse?) -> Void
    ) {
        assertNoLockIsHeld()
        switch behavior {
        case .cache: completion(response)
        case .doNotCache: completion(nil)
        case .modify(let modification): completion(modification(task, response))
        }
    }
}

extension CachedResponseHandler where Self == ResponseCacher {
    /// A cacher that stores responses.
    public static var cache: ResponseCacher { .cache }
    /// A cacher that does not store responses.
    public static var doNotCache: ResponseCacher { .doNotCache }

    /// Returns a cacher that stores the response which the closure returns.
    public static func modify(
        using closure: @escaping @Sendable (URLSessionDataTask, CachedURLResponse) -> CachedURLResponse?
    ) -> ResponseCacher {
        ResponseCacher(behavior: .modify(closure))
    }
}
