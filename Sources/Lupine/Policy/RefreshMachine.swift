// SPDX-License-Identifier: MIT

internal import Foundation

/// A credential and the one refresh that may run for it, with those that wait for that: decides what `AuthenticationInterceptor`
/// does, which keeps it in its lock.
///
/// It calls nobody: whether a credential has to be refreshed is asked outside of the lock and told here. Time is an argument:
/// seconds that never go back.
struct RefreshMachine<Credential: AuthenticationCredential, Adaptation, Answer> {
    /// Those that wait for a refresh, in the order in which they came.
    struct Waiting {
        var adaptations: [Adaptation] = []
        var answers: [Answer] = []
    }

    private enum State {
        case idle  // → refreshing, failed
        case refreshing  // → idle, failed
        case failed(any Error)  // → idle, refreshing
    }

    /// What a credential has said, which is known by its version.
    struct Finding {
        let version: Int
        let requiresRefresh: Bool
    }

    /// What becomes of a request that is to be authenticated.
    enum AdaptAction {
        case apply(Credential)
        /// The credential is to be asked whether it has to be refreshed; `adapt` follows with what it said.
        case ask(Credential, version: Int)
        case fail(any Error)
        /// It hears of a refresh that runs.
        case wait
        /// It hears of a refresh that has to be started; its end is told with the version.
        case refresh(Credential, version: Int)
        /// There must be no further refresh: these hear of that, it is among them.
        case refuse(Waiting, any Error)
    }

    /// What becomes of a request whose credential was refused.
    enum RejectAction {
        case retry
        case fail(any Error)
        case wait
        case refresh(Credential, version: Int)
        case refuse(Waiting, any Error)
    }

    private(set) var credential: Credential?
    /// Counts the credentials, so that one who has read one knows whether it is still the one.
    private(set) var version = 0
    private var state = State.idle
    private var waiting = Waiting()
    private let window: (interval: TimeInterval, attempts: Int)?
    /// When refreshes were started, as far back as the window reaches.
    private var starts: [TimeInterval] = []

    init(credential: Credential?, window: (interval: TimeInterval, attempts: Int)?) {
        self.credential = credential
        self.window = window
    }

    /// What a change may replace. It is the program's: whoever makes the change under a lock keeps it until that is open.
    var replaceable: (Credential?, (any Error)?) {
        guard case .failed(let error) = state else { return (credential, nil) }
        return (credential, error)
    }

    /// Another credential, from outside. It forces the state to idle; what comes of a refresh that runs is another credential's.
    mutating func replace(by new: Credential?) {
        credential = new
        version += 1
        state = .idle
    }

    /// A request is to be authenticated.
    ///
    /// - Parameter finding: What a credential has said, if one was asked.
    mutating func adapt(
        _ adaptation: Adaptation, knowing finding: Finding? = nil, at now: TimeInterval
    ) -> AdaptAction {
        switch state {
        case .refreshing:
            // What waits already came before this one, for the same reason.
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

    /// A request that carried the credential of this version was refused.
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

    /// Who is to go on when a refresh has ended, and who is to hear of its failure.
    struct Outcome {
        var goOn = Waiting()
        var failed = Waiting()
    }

    /// A refresh has ended. What it gave holds if the credential that it was started for is still the one: one that was set
    /// meanwhile may be another user's, or nobody's. Those that have waited go on with that, behind its own refresh if one runs.
    ///
    /// - Parameters:
    ///   - result: The new credential, or why there is none; that is told to those that come late, too, until a request is
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
