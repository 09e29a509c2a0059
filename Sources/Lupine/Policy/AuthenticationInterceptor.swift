// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

/// Authenticates every request with a credential, and refreshes the credential when it expires. All requests that wait for the
/// new credential share one refresh. The `Authenticator` defines the credential and how it is refreshed.
///
/// A request that is adapted while an expired credential is being refreshed waits for the new credential. A request that failed
/// with the old credential is sent again with the new one. One interceptor may serve several sessions, on any thread.
public final class AuthenticationInterceptor<AuthenticatorType>: RequestInterceptor, Sendable
where AuthenticatorType: Authenticator {
    /// The type of the credential.
    public typealias Credential = AuthenticatorType.Credential

    /// Limits how often a credential may be refreshed, so that a server that rejects every credential does not cause endless
    /// refreshes.
    public struct RefreshWindow: Sendable {
        /// The length of the window in seconds.
        public let interval: TimeInterval
        /// The number of refreshes that may start within the window.
        public let maximumAttempts: Int

        /// Creates a window; by default five refreshes in thirty seconds.
        public init(interval: TimeInterval = 30, maximumAttempts: Int = 5) {
            self.interval = interval
            self.maximumAttempts = maximumAttempts
        }
    }

    /// The arguments of a call of `adapt`. If the request has to wait for a refresh, they are stored until the refresh ends.
    private struct Adaptation: Sendable {
        let urlRequest: URLRequest
        let session: Session
        let completion: @Sendable (Result<URLRequest, any Error>) -> Void
    }

    /// The completion of a call of `retry`.
    private typealias RetryCompletion = @Sendable (RetryResult) -> Void
    private typealias Machine = RefreshMachine<Credential, Adaptation, RetryCompletion>

    private let authenticator: AuthenticatorType
    /// A serial queue on which the authenticator refreshes, and on which waiting requests continue.
    private let queue = DispatchQueue(label: "lupine.authentication")
    private let machine: Protected<Machine>

    /// Creates an interceptor.
    ///
    /// - Parameters:
    ///   - authenticator: Applies and refreshes the credential.
    ///   - credential: The initial credential. If it is nil, requests fail with `missingCredential` until `credential` is set.
    ///   - refreshWindow: Limits the number of refreshes; nil for no limit.
    public init(
        authenticator: AuthenticatorType, credential: Credential? = nil,
        refreshWindow: RefreshWindow? = RefreshWindow()
    ) {
        self.authenticator = authenticator
        machine = Protected(
            Machine(
                credential: credential,
                window: refreshWindow.map { ($0.interval, $0.maximumAttempts) }))
    }

    /// The credential. Setting it discards the state of the previous one, including a failed refresh. The result of a
    /// running refresh is dropped, and the requests that wait for it continue with the new credential.
    public var credential: Credential? {
        get { machine.read { $0.credential } }
        set { update { $0.replace(by: newValue) } }
    }

    /// Calls `body` with the machine, under the lock. Values of the program that `body` replaces are released outside the lock,
    /// because their deinitializers are the program's code.
    private func update<Value>(_ body: (inout Machine) -> Value) -> Value {
        // The closure returns the old values, which retains them until the lock is released.
        let (value, _) = machine.write { machine in
            let replaceableValues = machine.replaceableValues
            return (body(&machine), replaceableValues)
        }
        return value
    }

    /// Adds the credential to the request, at once or after a refresh.
    public func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) {
        let adaptation = Adaptation(urlRequest: urlRequest, session: session, completion: completion)
        var requirement: Machine.RefreshRequirement?
        // Each iteration requests the next action from the machine. Only `.readRequirement` leads to another iteration.
        while true {
            let action = update {
                $0.adapt(adaptation, requirement: requirement, at: session.session.clock.seconds)
            }
            switch action {
            case .readRequirement(let credential, let version):
                // `requiresRefresh` is the program's code and may use this interceptor, so it is read outside the lock. If
                // another thread replaces the credential in the meantime, the machine requests the value of the new one.
                assertNoLockIsHeld()
                requirement = Machine.RefreshRequirement(
                    version: version, requiresRefresh: credential.requiresRefresh)
                continue
            case .apply(let credential):
                var authenticated = urlRequest
                assertNoLockIsHeld()
                authenticator.apply(credential, to: &authenticated)
                completion(.success(authenticated))
            case .fail(let error): completion(.failure(error))
            case .wait: break  // The machine stores the request until `finishRefresh` returns it.
            case .refresh(let credential, let version): refresh(credential, version, for: session)
            // `waiting` contains this request: the machine has stored it.
            case .refuse(let waiting, let error): fail(waiting, with: error)
            }
            return
        }
    }

    /// Decides whether a failed request is retried. Completes with `doNotRetry` if its credential did not cause the failure, and
    /// with `retry` if another credential has replaced the one that it carried. Otherwise completes after a refresh.
    public func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        assertNoLockIsHeld()
        guard let urlRequest = request.request, let response = request.response,
            authenticator.didRequest(urlRequest, with: response, failDueToAuthenticationError: error)
        else { return completion(.doNotRetry) }
        let (credential, version) = machine.read { ($0.credential, $0.version) }
        guard let credential else {
            return completion(.doNotRetryWithError(AuthenticationError.missingCredential))
        }
        assertNoLockIsHeld()
        // If the request carried another credential, it is sent again with the present one, without a refresh.
        guard authenticator.isRequest(urlRequest, authenticatedWith: credential) else {
            return completion(.retry)
        }
        let action = update {
            $0.decideRetry(version: version, completion: completion, at: session.session.clock.seconds)
        }
        switch action {
        case .retry: completion(.retry)
        case .fail(let error): completion(.doNotRetryWithError(error))
        case .wait: break  // The machine stores the completion until `finishRefresh` returns it.
        case .refresh(let credential, let version): refresh(credential, version, for: session)
        // `waiting` contains this completion: the machine has stored it.
        case .refuse(let waiting, let error): fail(waiting, with: error)
        }
    }

    /// Calls the authenticator to refresh the credential. When it completes, continues or fails the waiting requests.
    private func refresh(_ credential: Credential, _ version: Int, for session: Session) {
        queue.async { [self] in
            assertNoLockIsHeld()
            authenticator.refresh(credential, for: session) { [self] result in
                let outcome = update { $0.finishRefresh(result, of: version) }
                resume(outcome.requestsToContinue)
                if case .failure(let error) = result { fail(outcome.requestsToFail, with: error) }
            }
        }
    }

    /// Authenticates the requests that wait in `adapt`, and retries those that the server rejected.
    private func resume(_ waiting: Machine.WaitingRequests) {
        queue.async { [self] in
            for adaptation in waiting.adaptations {
                adapt(adaptation.urlRequest, for: adaptation.session, completion: adaptation.completion)
            }
            for completion in waiting.retryCompletions { completion(.retry) }
        }
    }

    /// Fails the waiting requests.
    private func fail(_ waiting: Machine.WaitingRequests, with error: any Error) {
        queue.async {
            assertNoLockIsHeld()
            for adaptation in waiting.adaptations { adaptation.completion(.failure(error)) }
            for completion in waiting.retryCompletions { completion(.doNotRetryWithError(error)) }
        }
    }
}
