// SPDX-License-Identifier: MIT

public import LupineLoading

/// Caches responses, does not cache them, or changes what is cached.
public struct ResponseCacher: CachedResponseHandler {
    /// What becomes of a response that could be cached.
    public enum Behavior: Sendable {
        /// It is stored as proposed.
        case cache
        /// It is not stored.
        case doNotCache
        /// What the closure gives is stored; nil stores nothing. It is called on the session's root queue.
        case modify(
            @Sendable (_ task: URLSessionDataTask, _ cachedResponse: CachedURLResponse) -> CachedURLResponse?)
    }

    /// A cacher that stores.
    public static let cache = ResponseCacher(behavior: .cache)
    /// A cacher that does not store.
    public static let doNotCache = ResponseCacher(behavior: .doNotCache)

    /// What becomes of a response that could be cached.
    public let behavior: Behavior

    /// A cacher that behaves so.
    public init(behavior: Behavior) { self.behavior = behavior }

    /// Completes at once, as the behaviour says.
    public func dataTask(
        _ task: URLSessionDataTask, willCacheResponse response: CachedURLResponse,
        completion: @escaping (CachedURLResponse?) -> Void
    ) {
        assertNoLockIsHeld()
        switch behavior {
        case .cache: completion(response)
        case .doNotCache: completion(nil)
        case .modify(let change): completion(change(task, response))
        }
    }
}

extension CachedResponseHandler where Self == ResponseCacher {
    /// A cacher that stores.
    public static var cache: ResponseCacher { .cache }
    /// A cacher that does not store.
    public static var doNotCache: ResponseCacher { .doNotCache }

    /// A cacher that stores what the closure gives.
    public static func modify(
        using closure: @escaping @Sendable (URLSessionDataTask, CachedURLResponse) -> CachedURLResponse?
    ) -> ResponseCacher {
        ResponseCacher(behavior: .modify(closure))
    }
}
