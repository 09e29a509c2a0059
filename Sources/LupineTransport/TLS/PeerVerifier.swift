// SPDX-License-Identifier: MIT

package import LupineTLS

/// Answers, for one exchange, the questions of a handshake: whether the peer is trusted, and which client certificate to present
/// if the peer asks for one.
///
/// If an exchange has one (`ExchangeOptions.verifier`) and the origin's profile asks questions, the exchange is bound to the new
/// connection as soon as the peer's chain has arrived: it runs on that connection and no other, and only this exchange is
/// affected by a rejection. An established connection is leased to it without a question, unless a client certificate from an
/// answer was presented there: such a connection ends with the exchange that it was opened for.
///
/// The methods are called on a loop and must not block. Each `reply` is called once, from any thread; without an answer, the peer
/// is rejected and no client certificate is presented.
///
/// Which component answered is known only afterwards, so each answer names the profile that the connection belongs to from then
/// on; nil leaves it unchanged. After the handshake a connection belongs to its last profile: it is leased, and its sessions are
/// offered, under that profile only.
package protocol PeerVerifier: AnyObject, Sendable {
    /// Decides whether the peer of a connection opened under `profile` is trusted.
    func judge(
        _ peer: PeerTrust, host: String, port: UInt16, under profile: TLSProfile,
        reply: @escaping @Sendable (PeerVerdict, TLSProfile?) -> Void)
    /// Whether `judge` would certainly leave the decision on this host to the profile's evaluator, without asking the delegate.
    /// An established connection to another host, which the evaluator has also accepted for this host, is then leased without a
    /// question.
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
    /// The exchange is no longer wanted.
    case cancelled
}

/// The answer to a request for a client certificate.
package enum IdentityAnswer: Hashable, Sendable {
    /// The certificate to present.
    case identity(TLSIdentity)
    /// No certificate; the handshake continues without one.
    case nobody
    /// The exchange is no longer wanted.
    case cancelled
}

/// The questions that connections under a profile ask of the exchange that they are opened for.
package enum PeerQuestions: Hashable, Sendable {
    /// None: the evaluator and the configuration decide.
    case none
    /// Whether the peer is trusted.
    case trust
    /// Also which client certificate to present, if the peer asks for one.
    case trustAndIdentity
}

/// The exchange that a new connection is for.
enum PeerClaim {
    /// An exchange, which is now bound to the connection, with its answerer, if any.
    case claimed((any PeerVerifier)?)
    /// None any more: the dial is being cancelled.
    case abandoned
}
