// SPDX-License-Identifier: MIT

public import LupineLoading

/// Follows redirects, does not follow them, or changes where they lead.
public struct Redirector: RedirectHandler {
    /// What becomes of a redirect.
    public enum Behavior: Sendable {
        /// The proposed request is sent.
        case follow
        /// The redirect itself is the response.
        case doNotFollow
        /// What the closure gives is sent; nil takes the redirect itself as the response. It is called on the session's
        /// root queue.
        case modify(
            @Sendable (_ task: URLSessionTask, _ request: URLRequest, _ response: HTTPURLResponse) ->
                URLRequest?)
    }

    /// A redirector that follows.
    public static let follow = Redirector(behavior: .follow)
    /// A redirector that does not follow.
    public static let doNotFollow = Redirector(behavior: .doNotFollow)

    /// What becomes of a redirect.
    public let behavior: Behavior

    /// A redirector that behaves so.
    public init(behavior: Behavior) { self.behavior = behavior }

    /// Completes at once, as the behaviour says.
    public func task(
        _ task: URLSessionTask, willBeRedirectedTo request: URLRequest, for response: HTTPURLResponse,
        completion: @escaping (URLRequest?) -> Void
    ) {
        assertNoLockIsHeld()
        switch behavior {
        case .follow: completion(request)
        case .doNotFollow: completion(nil)
        case .modify(let change): completion(change(task, request, response))
        }
    }
}

extension RedirectHandler where Self == Redirector {
    /// A redirector that follows.
    public static var follow: Redirector { .follow }
    /// A redirector that does not follow.
    public static var doNotFollow: Redirector { .doNotFollow }

    /// A redirector that sends what the closure gives.
    public static func modify(
        using closure: @escaping @Sendable (URLSessionTask, URLRequest, HTTPURLResponse) -> URLRequest?
    ) -> Redirector {
        Redirector(behavior: .modify(closure))
    }
}
