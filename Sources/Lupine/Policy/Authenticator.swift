// SPDX-License-Identifier: MIT

public import LupineLoading

/// A credential for requests, such as a token.
public protocol AuthenticationCredential {
    /// Whether the credential must be refreshed before its next use, because it has expired or will soon. The interceptor reads
    /// this property for each request that it adapts, while it holds no lock.
    var requiresRefresh: Bool { get }
}

/// Applies a credential to requests and refreshes it. `AuthenticationInterceptor` calls it from several threads and never
/// under its lock.
public protocol Authenticator: AnyObject, Sendable {
    /// The type of the credential.
    associatedtype Credential: AuthenticationCredential & Sendable

    /// Adds the credential to a request, for example as its `Authorization` header.
    func apply(_ credential: Credential, to urlRequest: inout URLRequest)

    /// Obtains a new credential. Called on a queue of the interceptor, once for all waiting requests. The completion must be
    /// called exactly once, from any thread.
    func refresh(
        _ credential: Credential, for session: Session,
        completion: @escaping @Sendable (Result<Credential, any Error>) -> Void)

    /// Returns true if a request failed because of its credential, for example with status 401. Called on the session's root
    /// queue.
    func didRequest(
        _ urlRequest: URLRequest, with response: HTTPURLResponse,
        failDueToAuthenticationError error: any Error
    ) -> Bool

    /// Returns true if a request carries this credential. A failed request with another credential is sent again without a
    /// refresh. Called on the session's root queue.
    func isRequest(_ urlRequest: URLRequest, authenticatedWith credential: Credential) -> Bool
}
