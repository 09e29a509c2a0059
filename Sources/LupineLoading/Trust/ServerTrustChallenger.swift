// SPDX-License-Identifier: MIT

/// A session delegate that knows, before a challenge, for which hosts it leaves server-trust challenges to the default handling.
package protocol ServerTrustDeferring: URLSessionDelegate {
    /// Returns whether the delegate leaves this host's challenge to the default handling, and no event monitor observes the
    /// challenge. Called on an event loop; must not run the program's code.
    func defersServerTrust(ofHost host: String) -> Bool
}

/// Forwards a connection's server-trust and client-certificate challenges to the program.
///
/// The implementation, a task, decides whether a challenge goes to the session's delegate or to the task's (U-5.9). The methods
/// are called on an event loop, so they must not block.
protocol ServerTrustChallenger: AnyObject, Sendable {
    /// The task's own delegate; nil if there is none, or if the same object is the session's delegate. Whether this delegate has
    /// answered a challenge is in `ChallengeAnswer.responder`.
    var ownDelegate: (any URLSessionDelegate)? { get }
    /// Returns whether the session's delegate is certain to leave the decision about this host to the session's policy.
    func defersServerTrust(ofHost host: String) -> Bool
    /// Passes a challenge to the program's delegates, and their answer to `reply`, which is called once, on any thread.
    func evaluate(
        _ challenge: URLAuthenticationChallenge, reply: @escaping @Sendable (ChallengeAnswer) -> Void)
}
