// SPDX-License-Identifier: MIT

public import LupineLoading

/// What requests are authenticated by, such as a token.
public protocol AuthenticationCredential {
    /// Whether it has to be refreshed before it is used again: because it has expired, or soon will. Asked where a request
    /// is adapted, under no lock, and once more if the credential is replaced meanwhile.
    var requiresRefresh: Bool { get }
}

/// Knows how requests are authenticated with a kind of credential, and how that is refreshed. `AuthenticationInterceptor`
/// calls it, from several threads and never under its lock.
public protocol Authenticator: AnyObject, Sendable {
    /// What requests are authenticated by.
    associatedtype Credential: AuthenticationCredential & Sendable

    /// Puts the credential into a request, such as into its `Authorization`.
    func apply(_ credential: Credential, to urlRequest: inout URLRequest)

    /// Gets a new credential. Called on a queue of the interceptor's own, once for all requests that wait; the completion has
    /// to be called exactly once, from any thread.
    func refresh(
        _ credential: Credential, for session: Session,
        completion: @escaping @Sendable (Result<Credential, any Error>) -> Void)

    /// Whether a request failed because of its credential, such as with status 401. Called on the session's root queue.
    func didRequest(
        _ urlRequest: URLRequest, with response: HTTPURLResponse,
        failDueToAuthenticationError error: any Error
    ) -> Bool

    /// Whether a request carries this credential. One that failed with another is sent again without a refresh. Called on the
    /// session's root queue.
    func isRequest(_ urlRequest: URLRequest, authenticatedWith credential: Credential) -> Bool
}
