// SPDX-License-Identifier: MIT

internal import Dispatch
internal import Foundation
internal import Lupine
internal import LupineLoading
internal import LupineTransport

/// Directs each attempt of one request to its planned URL, and retries as planned. Any thread.
final class ChaosInterceptor: RequestInterceptor {
    private struct State {
        var attempts = 0
        var failures: [Int: Set<ChaosFailure>] = [:]
        var stage = "made"
        weak var request: Request?
    }

    private let plan: ChaosPlan
    private let doors: ChaosDoors
    private let state = Lock(State())

    init(_ plan: ChaosPlan, _ doors: ChaosDoors) {
        self.plan = plan
        self.doors = doors
    }

    /// Sets the request that it intercepts, before that is resumed.
    func setRequest(_ request: Request) { state.withLock { $0.request = request } }

    /// The number of calls of `adapt`.
    var attempts: Int { state.withLock { $0.attempts } }

    /// The errors passed to `retry`, by attempt.
    var failures: [Int: Set<ChaosFailure>] { state.withLock { $0.failures } }

    /// A description of its last action.
    var stage: String { state.withLock { $0.stage } }

    func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) {
        let (attempt, request) = state.withLock { state in
            state.attempts += 1
            state.stage = "attempt \(state.attempts - 1), \(plan.misbehaviour(state.attempts - 1))"
            return (state.attempts - 1, state.request)
        }
        guard let port = doors[plan.door(attempt), secure: plan.isSecure],
            let url = URL(
                string:
                    "\(plan.isSecure ? "https" : "http")://127.0.0.1:\(port)\(plan.trial(attempt).target)")
        else { return completion(.failure(URLError(.badURL))) }
        var adapted = urlRequest
        adapted.url = url
        adapted.timeoutInterval = plan.timeout(attempt)
        if plan.cancellation == .inAdapter(attempt: attempt) { request?.cancel() }
        guard plan.number.isMultiple(of: 7) else { return completion(.success(adapted)) }
        DispatchQueue.global().async { [adapted] in completion(.success(adapted)) }
    }

    func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        let failure = ChaosFailure(error)
        let attempts = state.withLock { state in
            state.failures[state.attempts - 1, default: []].insert(failure)
            state.stage += ", \(failure)"
            return state.attempts
        }
        guard plan.retrying == .own, failure != .cancelled, attempts < plan.misbehaviours.count else {
            return completion(.doNotRetry)
        }
        completion(plan.retryDelay == 0 ? .retry : .retryWithDelay(Double(plan.retryDelay) / 1_000))
    }
}
