// SPDX-License-Identifier: MIT

import LupineLoading

@testable import Lupine

/// An interceptor that records the calls, and answers by a closure or when the test answers.
///
/// Requests retain their interceptors, so its records retain no request: each answer releases its request when it is given.
final class ScriptedInterceptor: RequestInterceptor {
    /// A question about a failure.
    struct Question: Sendable {
        let retryCount: Int
        let error: any Error
        let answer: @Sendable (RetryResult) -> Void
    }

    /// A request to adapt.
    struct Adaptation: Sendable {
        let request: URLRequest
        let state: RequestAdapterState
        let answer: @Sendable (Result<URLRequest, any Error>) -> Void
    }

    typealias Adapt = @Sendable (Adaptation) -> Void
    typealias Retry = @Sendable (Question) -> Void

    let adaptations = Heard<Adaptation>()
    let questions = Heard<Question>()
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
        let left = Protected(answers)
        self.init(
            adapt: adapt,
            retry: { question in
                question.answer(left.write { $0.isEmpty ? .doNotRetry : $0.removeFirst() })
            })
    }

    /// Releases the records. The session retains its interceptor, or a request its own. `withPipeline` calls this for a
    /// session's interceptor when it ends.
    func forget() {
        adaptations.forget()
        questions.forget()
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

    private static func once<Value>(
        _ answer: @escaping @Sendable (Value) -> Void
    ) -> @Sendable (Value) -> Void {
        let left = Protected<(@Sendable (Value) -> Void)?>(answer)
        return { value in
            let answer = left.write { left in
                defer { left = nil }
                return left
            }
            answer?(value)
        }
    }
}
