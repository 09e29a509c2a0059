// SPDX-License-Identifier: MIT

/// What a run has seen of one request.
package struct ChaosObservation: Hashable, Sendable {
    /// How it ended.
    package enum Outcome: Hashable, Sendable {
        /// With a body, whole and the request's own.
        case whole
        /// With an error of this kind; in words for what is none of them.
        case failure(ChaosFailure, String)
        /// Without an error, but not with its body: why.
        case wrong(String)
    }

    /// How often each handler was called.
    package var calls: [Int]
    /// How it ended, for the first handler.
    package var outcome: Outcome
    /// How often it was adapted, which is once for each attempt.
    package var attempts: Int
    /// The errors for which a retry was asked, by attempt; each handler's serializer may ask again.
    package var failures: [Int: Set<ChaosFailure>]
    /// What `X-Chaos` said in the last response's head, if there was one.
    package var name: String?
    /// What is wrong with the part of the body that came with an error, or with pieces of a stream.
    package var wrongPart: String?

    /// An observation.
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
