// SPDX-License-Identifier: MIT

import LupineLoading

@testable import Lupine

/// An interceptor that records the calls. A closure of the test answers them, or the test itself later.
///
/// Requests retain their interceptors, so its records must not retain the requests: each completion is released when it is
/// called, and with it the request.
final class ScriptedInterceptor: RequestInterceptor {
    /// A call of `retry`.
    struct Question: Sendable {
        let retryCount: Int
        let error: any Error
        let answer: @Sendable (RetryResult) -> Void
    }

    /// A call of `adapt`.
    struct Adaptation: Sendable {
        let request: URLRequest
        let state: RequestAdapterState
        let answer: @Sendable (Result<URLRequest, any Error>) -> Void
    }

    typealias Adapt = @Sendable (Adaptation) -> Void
    typealias Retry = @Sendable (Question) -> Void

    let adaptations = ValueLog<Adaptation>()
    let questions = ValueLog<Question>()
    private let adapt: Adapt
    private let retry: Retry

    init(
        adapt: @escaping Adapt = { $0.answer(.success($0.request)) },
        retry: @escaping Retry = { $0.answer(.doNotRetry) }
    ) {
        self.adapt = adapt
        self.retry = retry
    }

    /// Creates an interceptor that gives these answers to the first failures, and then `doNotRetry`.
    convenience init(adapt: @escaping Adapt = { $0.answer(.success($0.request)) }, answers: [RetryResult]) {
        let remaining = Protected(answers)
        self.init(
            adapt: adapt,
            retry: { question in
                question.answer(remaining.write { $0.isEmpty ? .doNotRetry : $0.removeFirst() })
            })
    }

    /// Releases the records. `withPipeline` calls this at its end for the interceptor of its session; a test calls it for the
    /// interceptor of a request.
    func releaseRecords() {
        adaptations.removeAll()
        questions.removeAll()
    }

    /// The errors that the retrier was asked about, in brief.
    var errors: [String] { questions.all.map { brief($0.error) } }

    func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) {
        completion(.failure(BriefError("asked without state")))
    }

    func adapt(
        _ urlRequest: URLRequest, using state: RequestAdapterState,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) {
        let adaptation = Adaptation(request: urlRequest, state: state, answer: Self.once(completion))
        adapt(adaptation)
        adaptations.add(adaptation)
    }

    func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        let question = Question(
            retryCount: request.retryCount, error: error, answer: Self.once(completion))
        questions.add(question)
        retry(question)
    }

    /// Returns a closure that calls `completion` the first time, and then releases it.
    private static func once<Value>(
        _ completion: @escaping @Sendable (Value) -> Void
    ) -> @Sendable (Value) -> Void {
        let remaining = Protected<(@Sendable (Value) -> Void)?>(completion)
        return { value in
            let completion = remaining.write { remaining in
                defer { remaining = nil }
                return remaining
            }
            completion?(value)
        }
    }
}
