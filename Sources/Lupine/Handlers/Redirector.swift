// SPDX-License-Identifier: MIT

public import LupineLoading

/// Follows redirects, does not follow them, or changes their target.
public struct Redirector: RedirectHandler {
    /// How a redirect is handled.
    public enum Behavior: Sendable {
        /// The proposed request is sent.
        case follow
        /// No request is sent: the task ends with the redirect as its response.
        case doNotFollow
        /// The request that the closure returns is sent. If the closure returns nil, the task ends with the redirect as its
        /// response. The closure is called on the session's root queue.
        case modify(
            @Sendable (_ task: URLSessionTask, _ request: URLRequest, _ response: HTTPURLResponse) ->
                URLRequest?)
    }

    /// A redirector that follows redirects.
    public static let follow = Redirector(behavior: .follow)
    /// A redirector that does not follow redirects.
    public static let doNotFollow = Redirector(behavior: .doNotFollow)

    /// How a redirect is handled.
    public let behavior: Behavior

    /// Creates a redirector with this behaviour.
    public init(behavior: Behavior) { self.behavior = behavior }

    /// Completes at once, according to `behavior`.
    public func task(
        _ task: URLSessionTask, willBeRedirectedTo request: URLRequest, for response: HTTPURLResponse,
        completion: @escaping (URLRequest?) -> Void
    ) {
        assertNoLockIsHeld()
        switch behavior {
        case .follow: completion(request)
        case .doNotFollow: completion(nil)
        case .modify(let modification): completion(modification(task, request, response))
        }
    }
}

extension RedirectHandler where Self == Redirector {
    /// A redirector that follows redirects.
    public static var follow: Redirector { .follow }
    /// A redirector that does not follow redirects.
    public static var doNotFollow: Redirector { .doNotFollow }

    /// Returns a redirector that sends the request which the closure returns.
    public static func modify(
        using closure: @escaping @Sendable (URLSessionTask, URLRequest, HTTPURLResponse) -> URLRequest?
    ) -> Redirector {
        Redirector(behavior: .modify(closure))
    }
}
