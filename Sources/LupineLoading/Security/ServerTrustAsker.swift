// SPDX-License-Identifier: MIT

/// A session's delegate that knows beforehand for which hosts it leaves challenges about servers to the default.
package protocol ServerTrustDeferring: URLSessionDelegate {
    /// Whether it will for that host, and nobody wants to hear of the challenge. Called on a loop; calls no code of the program's.
    func defersServerTrust(ofHost host: String) -> Bool
}

/// Who takes a connection's challenges to the program: whether a server is trusted, and who the client is.
///
/// Called on a loop, so it must not block; `reply` is called once, from any thread. Whether a challenge goes to the session's
/// delegate or to the task's is decided behind it (U-5.9).
protocol ServerTrustAsker: AnyObject, Sendable {
    /// The delegate of the task's own, where it has one beside the session's. The answer says whether it spoke.
    var ownDelegate: (any URLSessionDelegate)? { get }
    /// Whether the session's delegate is certain to leave it to the session's policy who that host is.
    func defersServerTrust(ofHost host: String) -> Bool
    /// Asks the program.
    func evaluate(
        _ challenge: URLAuthenticationChallenge, reply: @escaping @Sendable (ChallengeAnswer) -> Void)
}
