// SPDX-License-Identifier: MIT

/// The observation of one request in a run.
package struct ChaosObservation: Hashable, Sendable {
    /// The result of a request.
    package enum Outcome: Hashable, Sendable {
        /// Success with the request's own, complete body.
        case whole
        /// An error of this kind, with its description.
        case failure(ChaosFailure, String)
        /// Success with a wrong body, and the reason.
        case wrong(String)
    }

    /// The number of calls of each handler.
    package var calls: [Int]
    /// The outcome that the first handler received.
    package var outcome: Outcome
    /// The number of times it was adapted: once for each attempt.
    package var attempts: Int
    /// The errors passed to the retrier, by attempt; each handler's serializer may ask again.
    package var failures: [Int: Set<ChaosFailure>]
    /// The value of `X-Chaos` in the last response, if there was one.
    package var name: String?
    /// The reason why the part of the body that came with an error, or a piece of a stream, is wrong.
    package var wrongPart: String?

    /// Creates an observation.
    package init(
        calls: [Int], outcome: Outcome, attempts: Int, failures: [Int: Set<ChaosFailure>] = [:],
        name: String? = nil,
        wrongPart: String? = nil
    ) {
        self.calls = calls
        self.outcome = outcome
        self.attempts = attempts
        self.failures = failures
        self.name = name
        self.wrongPart = wrongPart
    }
}
