// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

/// Authenticates every request with a credential, and refreshes that when it expires: once, however many requests wait for
/// it. What the credential is and how it is refreshed is its `Authenticator`'s.
///
/// Requests that come while a credential is refreshed before it was used wait for the new one; those that fail with the old
/// one are sent again with the new one. One interceptor serves a whole session, or several. Any thread may call.
public final class AuthenticationInterceptor<AuthenticatorType>: RequestInterceptor, Sendable
where AuthenticatorType: Authenticator {
    /// What requests are authenticated by.
    public typealias Credential = AuthenticatorType.Credential

    /// How often a credential may be refreshed, so that a server that refuses every credential is not asked for ever.
    public struct RefreshWindow: Sendable {
        /// The seconds that are looked back.
        public let interval: TimeInterval
        /// The refreshes that may begin in them.
        public let maximumAttempts: Int

        /// A window of five refreshes in thirty seconds, unless other values are given.
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

    private typealias Answer = @Sendable (RetryResult) -> Void
    private typealias Machine = RefreshMachine<Credential, Adaptation, Answer>

    private let authenticator: AuthenticatorType
    private let queue = DispatchQueue(label: "lupine.authentication")
    private let machine: Protected<Machine>

    /// An interceptor.
    ///
    /// - Parameters:
    ///   - authenticator: Knows the kind of credential.
    ///   - credential: The one to begin with; without one requests fail with `missingCredential` until it is set.
    ///   - refreshWindow: How often it may be refreshed; nil for any number of times.
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

    /// The credential. Setting it ends what was known about the one before, a refresh that has failed included; what comes of a
    /// refresh that still runs is dropped, and those that wait for it go on with the new one.
    public var credential: Credential? {
        get { machine.read { $0.credential } }
        set { change { $0.replace(by: newValue) } }
    }

    /// What is replaced goes away when the lock is open again.
    private func change<Value>(_ body: (inout Machine) -> Value) -> Value {
        let (value, _) = machine.write { machine in
            let replaceable = machine.replaceable
            return (body(&machine), replaceable)
        }
        return value
    }

    /// Gives the request with the credential in it: at once, or behind a refresh.
    public func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) {
        let adaptation = Adaptation(urlRequest: urlRequest, session: session, completion: completion)
        var finding: Machine.Finding?
        while true {
            let action = change {
                $0.adapt(adaptation, knowing: finding, at: session.session.clock.seconds)
            }
            switch action {
            case .ask(let credential, let version):
                // The program's code, which may look in here: not under the lock. Another credential is asked again.
                assertNoLockIsHeld()
                finding = Machine.Finding(version: version, requiresRefresh: credential.requiresRefresh)
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

    /// Answers for a request that failed: `retry` when it carried a credential that is no longer the current one, behind a
    /// refresh when it carried that, and `doNotRetry` when it did not fail because of it.
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
            $0.reject(version: version, completion, at: session.session.clock.seconds)
        }
        switch action {
        case .retry: completion(.retry)
        case .fail(let error): completion(.doNotRetryWithError(error))
        case .wait: break
        case .refresh(let credential, let version): refresh(credential, version, for: session)
        case .refuse(let waiting, let error): fail(waiting, with: error)
        }
    }

    private func refresh(_ credential: Credential, _ version: Int, for session: Session) {
        queue.async { [self] in
            assertNoLockIsHeld()
            authenticator.refresh(credential, for: session) { [self] result in
                let outcome = change { $0.refreshed(result, of: version) }
                goOn(outcome.goOn)
                if case .failure(let error) = result { fail(outcome.failed, with: error) }
            }
        }
    }

    private func goOn(_ waiting: Machine.Waiting) {
        queue.async { [self] in
            for adaptation in waiting.adaptations {
                adapt(adaptation.urlRequest, for: adaptation.session, completion: adaptation.completion)
            }
            for answer in waiting.answers { answer(.retry) }
        }
    }

    private func fail(_ waiting: Machine.Waiting, with error: any Error) {
        queue.async {
            assertNoLockIsHeld()
            for adaptation in waiting.adaptations { adaptation.completion(.failure(error)) }
            for answer in waiting.answers { answer(.doNotRetryWithError(error)) }
        }
    }
}
