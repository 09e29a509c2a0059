// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

/// Authenticates every request with a credential, and refreshes the credential when it expires: once, however many requests
/// wait for it. The `Authenticator` defines the credential and how it is refreshed.
///
/// A request that is adapted while an expired credential is refreshed waits for the new one; a request that failed with the
/// old credential is sent again with the new one. One interceptor serves one session or several. Can be used on any thread.
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

    /// A request that waits to be authenticated.
    private struct Adaptation: Sendable {
        let urlRequest: URLRequest
        let session: Session
        let completion: @Sendable (Result<URLRequest, any Error>) -> Void
    }

    private typealias RetryCompletion = @Sendable (RetryResult) -> Void
    private typealias Machine = RefreshMachine<Credential, Adaptation, RetryCompletion>

    private let authenticator: AuthenticatorType
    private let queue = DispatchQueue(label: "lupine.authentication")
    private let machine: Protected<Machine>

    /// Creates an interceptor.
    ///
    /// - Parameters:
    ///   - authenticator: Applies and refreshes the credential.
    ///   - credential: The initial credential; without one requests fail with `missingCredential` until it is set.
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
        set { change { $0.replace(by: newValue) } }
    }

    /// Calls `body` under the lock. Values of the program that it replaces are released outside the lock, because their
    /// deinitializers are the program's code.
    private func change<Value>(_ body: (inout Machine) -> Value) -> Value {
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
        while true {
            let action = change {
                $0.adapt(adaptation, requirement: requirement, at: session.session.clock.seconds)
            }
            switch action {
            case .readRequirement(let credential, let version):
                // `requiresRefresh` is the program's code and may use this interceptor, so it is read outside the lock. If the
                // credential is replaced meanwhile, the machine requests the value of the new one.
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
            case .wait: break
            case .refresh(let credential, let version): refresh(credential, version, for: session)
            case .refuse(let waiting, let error): fail(waiting, with: error)
            }
            return
        }
    }

    /// Decides about a failed request: `doNotRetry` when it did not fail because of its credential, `retry` when it carried
    /// a credential that has been replaced since. Otherwise completes after a refresh.
    public func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        assertNoLockIsHeld()
        guard let urlRequest = request.request, let response = request.response,
            authenticator.didRequest(urlRequest, with: response, failDueToAuthenticationError: error)
        else { return completion(.doNotRetry) }
        let (current, version) = machine.read { ($0.credential, $0.version) }
        guard let current else {
            return completion(.doNotRetryWithError(AuthenticationError.missingCredential))
        }
        assertNoLockIsHeld()
        guard authenticator.isRequest(urlRequest, authenticatedWith: current) else {
            return completion(.retry)
        }
        let action = change {
            $0.handleRejection(version: version, completion, at: session.session.clock.seconds)
        }
        switch action {
        case .retry: completion(.retry)
        case .fail(let error): completion(.doNotRetryWithError(error))
        case .wait: break
        case .refresh(let credential, let version): refresh(credential, version, for: session)
        case .refuse(let waiting, let error): fail(waiting, with: error)
        }
    }

    /// Lets the authenticator refresh the credential, then continues or fails the waiting requests.
    private func refresh(_ credential: Credential, _ version: Int, for session: Session) {
        queue.async { [self] in
            assertNoLockIsHeld()
            authenticator.refresh(credential, for: session) { [self] result in
                let outcome = change { $0.finishRefresh(result, of: version) }
                resume(outcome.continuing)
                if case .failure(let error) = result { fail(outcome.failing, with: error) }
            }
        }
    }

    /// Authenticates the waiting requests again, and retries those that were rejected.
    private func resume(_ waiting: Machine.Waiting) {
        queue.async { [self] in
            for adaptation in waiting.adaptations {
                adapt(adaptation.urlRequest, for: adaptation.session, completion: adaptation.completion)
            }
            for completion in waiting.retryCompletions { completion(.retry) }
        }
    }

    /// Fails the waiting requests.
    private func fail(_ waiting: Machine.Waiting, with error: any Error) {
        queue.async {
            assertNoLockIsHeld()
            for adaptation in waiting.adaptations { adaptation.completion(.failure(error)) }
            for completion in waiting.retryCompletions { completion(.doNotRetryWithError(error)) }
        }
    }
}
