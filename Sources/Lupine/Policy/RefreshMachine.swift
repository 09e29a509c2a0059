// SPDX-License-Identifier: MIT

internal import Foundation

/// The state machine of a credential, its single refresh and the requests that wait for it. It decides what
/// `AuthenticationInterceptor` does, which stores it under its lock.
///
/// It calls no other code: whether a credential must be refreshed is determined outside the lock and passed in. Time is an
/// argument: seconds of a monotonic clock.
struct RefreshMachine<Credential: AuthenticationCredential, Adaptation, Answer> {
    /// The requests that wait for a refresh, in order of arrival.
    struct Waiting {
        var adaptations: [Adaptation] = []
        var answers: [Answer] = []
    }

    private enum State {
        case idle  // → refreshing, failed
        case refreshing  // → idle, failed
        case failed(any Error)  // → idle, refreshing
    }

    /// The value of `requiresRefresh` of the credential of that version.
    struct RefreshRequirement {
        let version: Int
        let requiresRefresh: Bool
    }

    /// What the interceptor does with a request that is to be authenticated.
    enum AdaptAction {
        case apply(Credential)
        /// Read `requiresRefresh` of the credential, then call `adapt` again with the value.
        case ask(Credential, version: Int)
        case fail(any Error)
        /// The request waits for a running refresh.
        case wait
        /// Start a refresh, for which the request waits. Its result is passed to `refreshed` with the version.
        case refresh(Credential, version: Int)
        /// The refresh window is exhausted: these requests, including the current one, fail with the error.
        case refuse(Waiting, any Error)
    }

    /// What the interceptor does with a request whose credential was rejected.
    enum RejectAction {
        case retry
        case fail(any Error)
        case wait
        case refresh(Credential, version: Int)
        case refuse(Waiting, any Error)
    }

    private(set) var credential: Credential?
    /// Counts the credentials, so that a caller can tell whether the credential it has read is still the current one.
    private(set) var version = 0
    private var state = State.idle
    private var waiting = Waiting()
    private let window: (interval: TimeInterval, attempts: Int)?
    /// The start times of the refreshes within the window.
    private var starts: [TimeInterval] = []

    init(credential: Credential?, window: (interval: TimeInterval, attempts: Int)?) {
        self.credential = credential
        self.window = window
    }

    /// The values that a change may replace. They belong to the program: a caller that holds a lock retains them until it
    /// has released the lock.
    var replaceable: (Credential?, (any Error)?) {
        guard case .failed(let error) = state else { return (credential, nil) }
        return (credential, error)
    }

    /// Sets another credential and returns to the idle state. The result of a running refresh will be ignored, because its
    /// version no longer matches.
    mutating func replace(by new: Credential?) {
        credential = new
        version += 1
        state = .idle
    }

    /// Decides about a request that is to be authenticated.
    ///
    /// - Parameter finding: The answer to a previous `.ask`, if there was one.
    mutating func adapt(
        _ adaptation: Adaptation, knowing finding: RefreshRequirement? = nil, at now: TimeInterval
    ) -> AdaptAction {
        switch state {
        case .refreshing:
            // The refresh was started because the credential has expired, so this request waits as well.
            if !waiting.adaptations.isEmpty {
                waiting.adaptations.append(adaptation)
                return .wait
            }
            guard let credential else { return .fail(AuthenticationError.missingCredential) }
            return .apply(credential)
        case .idle, .failed:
            guard let credential else { return .fail(AuthenticationError.missingCredential) }
            guard let finding, finding.version == version else { return .ask(credential, version: version) }
            guard finding.requiresRefresh else {
                state = .idle
                return .apply(credential)
            }
            waiting.adaptations.append(adaptation)
            guard start(at: now) else {
                let error = AuthenticationError.excessiveRefresh
                return .refuse(fail(with: error), error)
            }
            return .refresh(credential, version: version)
        }
    }

    /// Decides about a request that was rejected with the credential of this version.
    mutating func reject(version: Int, _ answer: Answer, at now: TimeInterval) -> RejectAction {
        guard version == self.version, let credential else { return .retry }
        switch state {
        case .failed(let error): return .fail(error)
        case .refreshing:
            waiting.answers.append(answer)
            return .wait
        case .idle:
            waiting.answers.append(answer)
            guard start(at: now) else {
                let error = AuthenticationError.excessiveRefresh
                return .refuse(fail(with: error), error)
            }
            return .refresh(credential, version: version)
        }
    }

    /// The requests that continue after a refresh, and those that fail.
    struct Outcome {
        var goOn = Waiting()
        var failed = Waiting()
    }

    /// Handles the end of a refresh. The result is used only if the credential that was refreshed is still the current one:
    /// a credential set meanwhile may be another user's, or nil. In that case the waiting requests continue with the current
    /// credential, after its own refresh if one is running.
    ///
    /// - Parameters:
    ///   - result: The new credential or an error. The error also fails requests that are rejected later, until a request is
    ///     authenticated again.
    ///   - version: The version of the credential that was refreshed.
    mutating func refreshed(_ result: Result<Credential, any Error>, of version: Int) -> Outcome {
        guard version == self.version else {
            if case .refreshing = state { return Outcome() }
            return Outcome(goOn: release())
        }
        switch result {
        case .success(let new):
            replace(by: new)
            return Outcome(goOn: release())
        case .failure(let error): return Outcome(failed: fail(with: error))
        }
    }

    private mutating func fail(with error: any Error) -> Waiting {
        state = .failed(error)
        return release()
    }

    private mutating func release() -> Waiting {
        defer { waiting = Waiting() }
        return waiting
    }

    private mutating func start(at now: TimeInterval) -> Bool {
        if let window {
            starts.removeAll { $0 < now - window.interval }
            guard starts.count < window.attempts else { return false }
            starts.append(now)
        }
        state = .refreshing
        return true
    }
}
