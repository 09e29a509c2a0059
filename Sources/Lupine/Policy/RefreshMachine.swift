// SPDX-License-Identifier: MIT

internal import Foundation

/// The state machine of a credential, of the one refresh that may be running, and of the requests that wait for the refresh. It
/// decides what `AuthenticationInterceptor` does. The interceptor guards the machine with a lock.
///
/// The machine calls no code of the program: the interceptor reads `requiresRefresh` of a credential outside the lock and passes
/// the value to the machine. Times are arguments, in seconds of a monotonic clock.
struct RefreshMachine<Credential: AuthenticationCredential, Adaptation, RetryCompletion> {
    /// The requests that wait for a refresh, in order of arrival.
    struct WaitingRequests {
        var adaptations: [Adaptation] = []
        var retryCompletions: [RetryCompletion] = []
    }

    /// The state of the refresh. The comment after each case lists the states that may follow.
    private enum State {
        case idle  // → refreshing, failed
        case refreshing  // → idle, failed
        case failed(any Error)  // → idle, refreshing
    }

    /// The value of a credential's `requiresRefresh`, and the version of that credential.
    struct RefreshRequirement {
        let version: Int
        let requiresRefresh: Bool
    }

    /// The interceptor's next action for a request that is to be authenticated.
    enum AdaptAction {
        /// Add the credential to the request.
        case apply(Credential)
        /// Read `requiresRefresh` of the credential, then call `adapt` again with the value.
        case readRequirement(Credential, version: Int)
        /// Fail the request with the error.
        case fail(any Error)
        /// The request waits for a running refresh.
        case wait
        /// Start a refresh, for which the request waits. Pass its result to `finishRefresh` with the version.
        case refresh(Credential, version: Int)
        /// The refresh window is exhausted: fail these requests, including the current one, with the error.
        case refuse(WaitingRequests, any Error)
    }

    /// The interceptor's next action for a request whose credential was rejected. Cases without a comment are the same as in
    /// `AdaptAction`.
    enum RejectAction {
        /// Send the request again, with the current credential.
        case retry
        case fail(any Error)
        case wait
        case refresh(Credential, version: Int)
        case refuse(WaitingRequests, any Error)
    }

    private(set) var credential: Credential?
    /// The number of times that the credential was replaced. A caller that has read a credential compares the number to tell
    /// whether the credential is still the current one.
    private(set) var version = 0
    private var state = State.idle
    private var waitingRequests = WaitingRequests()
    /// The length of the refresh window in seconds, and the number of refreshes that may start within it; nil for no limit.
    private let window: (interval: TimeInterval, attempts: Int)?
    /// The start times of the refreshes within the window.
    private var startTimes: [TimeInterval] = []

    init(credential: Credential?, window: (interval: TimeInterval, attempts: Int)?) {
        self.credential = credential
        self.window = window
    }

    /// The values of the program that a function of the machine may replace. A caller that holds a lock retains them until it has
    /// released the lock, because their deinitializers are the program's code.
    var replaceableValues: (credential: Credential?, error: (any Error)?) {
        guard case .failed(let error) = state else { return (credential, nil) }
        return (credential, error)
    }

    /// Sets another credential and returns to the idle state. The result of a running refresh will be ignored, because it belongs
    /// to an earlier version.
    mutating func replace(by newCredential: Credential?) {
        credential = newCredential
        version += 1
        state = .idle
    }

    /// Decides how a request is authenticated.
    ///
    /// - Parameters:
    ///   - adaptation: The request, which the machine stores if it has to wait.
    ///   - requirement: The value that the interceptor has read for a previous `.readRequirement`; nil in the first call.
    ///   - now: The present time in seconds.
    mutating func adapt(
        _ adaptation: Adaptation, requirement: RefreshRequirement? = nil, at now: TimeInterval
    ) -> AdaptAction {
        switch state {
        case .refreshing:
            // If other adaptations wait, the credential has expired, so this adaptation waits too. Otherwise a rejected request
            // has started the refresh, although the credential has not expired. Such a refresh does not delay adaptations.
            if !waitingRequests.adaptations.isEmpty {
                waitingRequests.adaptations.append(adaptation)
                return .wait
            }
            guard let credential else { return .fail(AuthenticationError.missingCredential) }
            return .apply(credential)
        // A failed refresh does not prevent another one.
        case .idle, .failed:
            guard let credential else { return .fail(AuthenticationError.missingCredential) }
            guard let requirement, requirement.version == version else {
                return .readRequirement(credential, version: version)
            }
            guard requirement.requiresRefresh else {
                // The failure of an earlier refresh has no further effect: the next rejected request starts a new refresh.
                state = .idle
                return .apply(credential)
            }
            waitingRequests.adaptations.append(adaptation)
            let hasStarted = startRefresh(at: now)
            guard hasStarted else {
                // `fail(with:)` returns the waiting requests, of which this one is the last.
                let error = AuthenticationError.excessiveRefresh
                return .refuse(fail(with: error), error)
            }
            return .refresh(credential, version: version)
        }
    }

    /// Decides whether a request is retried that the server rejected with the credential of this version. If the request has to
    /// wait for a refresh, the machine stores `completion`.
    mutating func decideRetry(
        version: Int, completion: RetryCompletion, at now: TimeInterval
    ) -> RejectAction {
        // If the credential has been replaced since the request was sent, the request is retried with the current one.
        guard version == self.version, let credential else { return .retry }
        switch state {
        case .failed(let error): return .fail(error)
        case .refreshing:
            waitingRequests.retryCompletions.append(completion)
            return .wait
        case .idle:
            waitingRequests.retryCompletions.append(completion)
            let hasStarted = startRefresh(at: now)
            guard hasStarted else {
                // As in `adapt`, the waiting requests include this one.
                let error = AuthenticationError.excessiveRefresh
                return .refuse(fail(with: error), error)
            }
            return .refresh(credential, version: version)
        }
    }

    /// The waiting requests that continue after a refresh, and those that fail.
    struct Outcome {
        var requestsToContinue = WaitingRequests()
        var requestsToFail = WaitingRequests()
    }

    /// Ends a refresh. Returns the requests that have waited for it.
    ///
    /// The result is used only if the refreshed credential is still the current one. If the program has set another credential
    /// since, which may belong to another user or be nil, the result is dropped. The waiting requests then continue with the
    /// current credential, after its own refresh if one is running.
    ///
    /// - Parameters:
    ///   - result: The new credential or an error. The error also fails requests that are rejected later, until a request is
    ///     authenticated again.
    ///   - version: The version of the credential that was refreshed.
    mutating func finishRefresh(_ result: Result<Credential, any Error>, of version: Int) -> Outcome {
        guard version == self.version else {
            // A refresh of the current credential is running: the requests wait for that refresh.
            if case .refreshing = state { return Outcome() }
            return Outcome(requestsToContinue: removeWaitingRequests())
        }
        switch result {
        case .success(let newCredential):
            replace(by: newCredential)
            return Outcome(requestsToContinue: removeWaitingRequests())
        case .failure(let error): return Outcome(requestsToFail: fail(with: error))
        }
    }

    /// Enters the failed state. Returns the waiting requests, which fail too.
    private mutating func fail(with error: any Error) -> WaitingRequests {
        state = .failed(error)
        return removeWaitingRequests()
    }

    /// Returns all waiting requests and forgets them.
    private mutating func removeWaitingRequests() -> WaitingRequests {
        defer { waitingRequests = WaitingRequests() }
        return waitingRequests
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
