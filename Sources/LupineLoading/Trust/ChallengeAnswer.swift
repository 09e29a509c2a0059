// SPDX-License-Identifier: MIT

import Foundation

/// A delegate's answer to a challenge.
struct ChallengeAnswer: Sendable {
    /// The delegate that has answered. The answer is valid only for connections of that delegate's party.
    enum Responder: Hashable, Sendable {
        /// The task's own delegate, by its method with or without a task parameter.
        case task
        /// The session's delegate, by its method with or without a task parameter. Also stands for no delegate.
        case session
    }

    /// The delegate's decision, as passed to its completion handler.
    var disposition: URLSession.AuthChallengeDisposition
    /// The credential for the disposition `useCredential`.
    var credential: URLCredential?
    /// The delegate that answered; nil if the task ended before one did.
    var responder: Responder?
}
