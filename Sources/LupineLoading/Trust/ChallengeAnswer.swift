// SPDX-License-Identifier: MIT

import Foundation

/// The answer to a challenge.
struct ChallengeAnswer: Sendable {
    /// The scope in which an answer is valid.
    enum Responder: Hashable, Sendable {
        /// The task's own delegate answered, through either method.
        case task
        /// The session's delegate answered, through either method, or no delegate did.
        case session
    }

    var disposition: URLSession.AuthChallengeDisposition
    var credential: URLCredential?
    /// The delegate that answered; nil when the challenge was abandoned.
    var responder: Responder?
}
