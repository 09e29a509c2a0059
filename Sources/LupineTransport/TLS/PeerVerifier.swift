// SPDX-License-Identifier: MIT

package import LupineTLS

/// Answers the questions of a TLS handshake on behalf of one exchange: whether the peer is trusted, and which client certificate
/// to present if the peer requests one.
///
/// If an exchange has a verifier (`ExchangeOptions.verifier`) and the origin's profile asks questions, the exchange is bound to
/// the new connection as soon as the peer's chain has arrived: the exchange runs on that connection and no other, and a
/// rejection fails only this exchange. The pool leases an established connection to the exchange without a question, unless a
/// client certificate from an answer was presented there: such a connection ends with the exchange that it was opened for.
///
/// The methods are called on a loop and must not block. Each `reply` is called once, from any thread; without an answer, the peer
/// is rejected and no client certificate is presented.
///
/// Which component of the program gives an answer, such as a task's delegate or the session's, is known only once it has done so.
/// Each answer therefore names the profile that the connection belongs to after it; nil leaves the profile unchanged. After the
/// handshake a connection belongs to its last profile: the pool leases it, and new connections resume its sessions, under that
/// profile only.
package protocol PeerVerifier: AnyObject, Sendable {
    /// Decides whether the peer of a connection opened under `profile` is trusted.
    func judge(
        _ peer: PeerTrust, host: String, port: UInt16, under profile: TLSProfile,
        reply: @escaping @Sendable (PeerVerdict, TLSProfile?) -> Void)
    /// Returns whether `judge` would certainly leave the decision on this host to the profile's evaluator, without asking the
    /// delegate. The pool may then lease an established connection to another host without a question, if the evaluator has
    /// accepted its server for this host too.
    func acceptsByDefault(host: String, port: UInt16) -> Bool
    /// Chooses the client certificate for a connection that now belongs to `profile`. The peer has been accepted before.
    func identify(
        for request: TLSIdentityRequest, host: String, port: UInt16, under profile: TLSProfile,
        reply: @escaping @Sendable (IdentityAnswer, TLSProfile?) -> Void)
}

/// A verdict on a peer.
package enum PeerVerdict: Hashable, Sendable {
    /// The peer is trusted, whatever its chain is.
    case accepted
    /// The peer is trusted without checks, or although its chain has not passed them.
    case acceptedUnchecked
    /// The peer is not trusted.
    case refused(TrustFailure)
    /// The profile's evaluator decides.
    case byDefault
    /// The exchange was cancelled.
    case cancelled
}

/// The answer to a request for a client certificate.
package enum IdentityAnswer: Hashable, Sendable {
    /// The certificate to present.
    case identity(TLSIdentity)
    /// No certificate; the handshake continues without one.
    case nobody
    /// The exchange was cancelled.
    case cancelled
}

/// The questions that a connection under a profile asks the exchange that it is opened for.
package enum PeerQuestions: Hashable, Sendable {
    /// None: the evaluator and the configuration decide.
    case none
    /// Whether the peer is trusted.
    case trust
    /// Whether the peer is trusted, and which client certificate to present if the peer requests one.
    case trustAndIdentity
}

/// The result of binding an exchange to a new connection.
enum PeerClaim {
    /// An exchange is now bound to the connection; the value is its verifier, if it has one.
    case claimed((any PeerVerifier)?)
    /// No exchange waits for the connection any more: the dial is being cancelled.
    case abandoned
}
