// SPDX-License-Identifier: MIT

import Foundation

/// A delegate's answer to a challenge.
struct ChallengeAnswer: Sendable {
    /// The delegate that answered, which decides whose connections the answer is valid for.
    enum Responder: Hashable, Sendable {
        /// The task's own delegate, by its session or its task method.
        case task
        /// The session's delegate, by either method, or no delegate.
        case session
    }

    /// The delegate's decision, as passed to its completion handler.
    var disposition: URLSession.AuthChallengeDisposition
    var credential: URLCredential?
    /// The delegate that answered; nil if the task ended before one did.
    var responder: Responder?
}
