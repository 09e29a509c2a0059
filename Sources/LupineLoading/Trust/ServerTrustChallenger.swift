// SPDX-License-Identifier: MIT

/// A session delegate that knows in advance for which hosts it leaves server-trust challenges to the default handling.
package protocol ServerTrustDeferring: URLSessionDelegate {
    /// Whether it will for this host, and no one observes the challenge. Called on a loop; runs no code of the program's.
    func defersServerTrust(ofHost host: String) -> Bool
}

/// Forwards a connection's server-trust and client-certificate challenges to the program.
///
/// Called on a loop, so it must not block; `reply` is called once, on any thread. The implementation decides whether a challenge
/// goes to the session's delegate or to the task's (U-5.9).
protocol ServerTrustChallenger: AnyObject, Sendable {
    /// The task's own delegate, if it has one besides the session's. The answer tells whether it answered.
    var ownDelegate: (any URLSessionDelegate)? { get }
    /// Whether the session's delegate is certain to leave the evaluation of this host to the session's policy.
    func defersServerTrust(ofHost host: String) -> Bool
    /// Asks the program's delegates.
    func evaluate(
        _ challenge: URLAuthenticationChallenge, reply: @escaping @Sendable (ChallengeAnswer) -> Void)
}
