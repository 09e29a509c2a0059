// SPDX-License-Identifier: MIT

internal import Foundation

/// The state machine of a credential, its single refresh and the requests that wait for the refresh. It decides what
/// `AuthenticationInterceptor` does, which keeps it under a lock.
///
/// The machine calls no other code: the interceptor reads `requiresRefresh` of a credential outside the lock and passes the
/// value. Time is an argument: seconds of a monotonic clock.
struct RefreshMachine<Credential: AuthenticationCredential, Adaptation, RetryCompletion> {
    /// The requests that wait for a refresh, in order of arrival.
    struct Waiting {
        var adaptations: [Adaptation] = []
        var retryCompletions: [RetryCompletion] = []
    }

    private enum State {
        case idle  // → refreshing, failed
        case refreshing  // → idle, failed
        case failed(any Error)  // → idle, refreshing
    }

    /// The value that the interceptor has read from `requiresRefresh` of the credential of that version.
    struct RefreshRequirement {
        let version: Int
        let requiresRefresh: Bool
    }

    /// The interceptor's next action for a request that is to be authenticated.
    enum AdaptAction {
        case apply(Credential)
        /// Read `requiresRefresh` of the credential, then call `adapt` again with the value.
        case readRequirement(Credential, version: Int)
        case fail(any Error)
        /// The request waits for a running refresh.
        case wait
        /// Start a refresh, for which the request waits. Pass its result to `finishRefresh` with the version.
        case refresh(Credential, version: Int)
        /// The refresh window is exhausted: fail these requests, including the current one, with the error.
        case refuse(Waiting, any Error)
    }

    /// The interceptor's next action for a request whose credential was rejected. The cases correspond to those of
    /// `AdaptAction`.
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
    private var startTimes: [TimeInterval] = []

    init(credential: Credential?, window: (interval: TimeInterval, attempts: Int)?) {
        self.credential = credential
        self.window = window
    }

    /// The values of the program that a change may replace. A caller that holds a lock retains them until it has released the
    /// lock, because their deinitializers are the program's code.
    var replaceableValues: (Credential?, (any Error)?) {
        guard case .failed(let error) = state else { return (credential, nil) }
        return (credential, error)
    }

    /// Sets another credential and returns to the idle state. The result of a running refresh will be ignored, because its
    /// version no longer matches.
    mutating func replace(by newCredential: Credential?) {
        credential = newCredential
        version += 1
        state = .idle
    }

    /// Decides about a request that is to be authenticated.
    ///
    /// - Parameters:
    ///   - adaptation: The request.
    ///   - requirement: The value that a previous `.readRequirement` asked for, if there was one.
    ///   - now: The time.
    mutating func adapt(
        _ adaptation: Adaptation, requirement: RefreshRequirement? = nil, at now: TimeInterval
    ) -> AdaptAction {
        switch state {
        case .refreshing:
            // If adaptations wait, the credential has expired, so this one waits as well. A refresh that only a rejection has
            // started delays no adaptation.
            if !waiting.adaptations.isEmpty {
                waiting.adaptations.append(adaptation)
                return .wait
            }
            guard let credential else { return .fail(AuthenticationError.missingCredential) }
            return .apply(credential)
        case .idle, .failed:
            guard let credential else { return .fail(AuthenticationError.missingCredential) }
            guard let requirement, requirement.version == version else {
                return .readRequirement(credential, version: version)
            }
            guard requirement.requiresRefresh else {
                // Ends the effect of a failed refresh.
                state = .idle
                return .apply(credential)
            }
            waiting.adaptations.append(adaptation)
            guard startRefresh(at: now) else {
                let error = AuthenticationError.excessiveRefresh
                return .refuse(fail(with: error), error)
            }
            return .refresh(credential, version: version)
        }
    }

    /// Decides about a request that the server rejected with the credential of this version. `completion` continues the request
    /// after the refresh for which it waits.
    mutating func handleRejection(
        version: Int, _ completion: RetryCompletion, at now: TimeInterval
    ) -> RejectAction {
        // If the credential was replaced meanwhile, the request is retried with the current one.
        guard version == self.version, let credential else { return .retry }
        switch state {
        case .failed(let error): return .fail(error)
        case .refreshing:
            waiting.retryCompletions.append(completion)
            return .wait
        case .idle:
            waiting.retryCompletions.append(completion)
            guard startRefresh(at: now) else {
                let error = AuthenticationError.excessiveRefresh
                return .refuse(fail(with: error), error)
            }
            return .refresh(credential, version: version)
        }
    }

    /// The requests that continue after a refresh, and those that fail.
    struct Outcome {
        var continuing = Waiting()
        var failing = Waiting()
    }

    /// Handles the end of a refresh. The result is used only if the credential that was refreshed is still the current one,
    /// because a credential set meanwhile may be another user's, or nil. If another one was set, the result is dropped, and
    /// the waiting requests continue with the current credential, after its own refresh if one is running.
    ///
    /// - Parameters:
    ///   - result: The new credential or an error. The error also fails requests that are rejected later, until a request is
    ///     authenticated again.
    ///   - version: The version of the credential that was refreshed.
    mutating func finishRefresh(_ result: Result<Credential, any Error>, of version: Int) -> Outcome {
        guard version == self.version else {
            if case .refreshing = state { return Outcome() }
            return Outcome(continuing: takeWaiting())
        }
        switch result {
        case .success(let newCredential):
            replace(by: newCredential)
            return Outcome(continuing: takeWaiting())
        case .failure(let error): return Outcome(failing: fail(with: error))
        }
    }

    /// Enters the failed state. Returns the waiting requests, which fail too.
    private mutating func fail(with error: any Error) -> Waiting {
        state = .failed(error)
        return takeWaiting()
    }

    private mutating func takeWaiting() -> Waiting {
        defer { waiting = Waiting() }
        return waiting
    }

    /// Enters the refreshing state. Returns false, without entering it, if the refresh window is exhausted.
    private mutating func startRefresh(at now: TimeInterval) -> Bool {
        if let window {
            startTimes.removeAll { $0 < now - window.interval }
            guard startTimes.count < window.attempts else { return false }
            startTimes.append(now)
        }
        state = .refreshing
        return true
    }
}
