// SPDX-License-Identifier: MIT

import LupineLoading

@testable import Lupine

/// An interceptor that notes what it is asked, and answers as it is told, or when the test answers.
///
/// Requests hold their interceptors, so what it notes holds no request: an answer lets go of whom it is for when it is given.
final class ScriptedInterceptor: RequestInterceptor {
    /// A question about a failure.
    struct Question: Sendable {
        let retryCount: Int
        let error: any Error
        let answer: @Sendable (RetryResult) -> Void
    }

    /// A request that is to be adapted.
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

    /// One that gives those answers to the first failures, and then `doNotRetry`.
    convenience init(adapt: @escaping Adapt = { $0.answer(.success($0.request)) }, answers: [RetryResult]) {
        let left = Protected(answers)
        self.init(
            adapt: adapt,
            retry: { question in
                question.answer(left.write { $0.isEmpty ? .doNotRetry : $0.removeFirst() })
            })
    }

    /// Lets go of what it was asked: the session that asks keeps it, or the request, if it is one's own. A session's is told
    /// so at the end of `withPipeline`.
    func forget() {
        adaptations.forget()
        questions.forget()
    }

    /// The errors that were asked about, in brief.
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
