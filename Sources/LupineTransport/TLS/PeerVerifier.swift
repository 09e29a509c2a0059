// SPDX-License-Identifier: MIT

package import LupineTLS

/// Answers the questions of a TLS handshake on behalf of one exchange: whether the peer is trusted, and which client certificate
/// to present if the peer requests one.
///
/// The `questions` of the origin's profile say what the handshake asks. If there are any and an exchange has a verifier
/// (`ExchangeOptions.verifier`), a new connection binds the exchange as soon as the peer's chain has arrived. The exchange then
/// runs on that connection and no other, and a rejection fails only this exchange.
///
/// The pool leases an established connection to an exchange without asking its verifier. The exception is a connection on which
/// the client certificate of a verifier's answer was presented: it ends with the exchange that it was opened for.
///
/// A loop calls the methods, so they must not block. A verifier calls each `reply` once, from any thread. If it releases `reply`
/// without a call, the peer is rejected, or no client certificate is presented.
///
/// Which component of the program answers is known only with the answer: a task's delegate, for example, or the session's. Each
/// answer therefore names the TLS profile that the connection belongs to afterwards; nil leaves the profile unchanged. After the
/// handshake a connection belongs to its last profile: the pool leases it, and new connections resume its sessions, under that
/// profile only.
package protocol PeerVerifier: AnyObject, Sendable {
    /// Decides whether the peer of a connection opened under `profile` is trusted.
    func judge(
        _ peer: PeerTrust, host: String, port: UInt16, under profile: TLSProfile,
        reply: @escaping @Sendable (PeerVerdict, TLSProfile?) -> Void)
    /// Returns whether `judge` would certainly leave the decision about this host to the profile's evaluator, without asking the
    /// delegate. The pool may then lease a connection that was opened for another host, if the evaluator has accepted its peer
    /// for this host too.
    func acceptsByDefault(host: String, port: UInt16) -> Bool
    /// Chooses the client certificate for a connection whose peer has been accepted. `profile` is the one that the connection
    /// belongs to after the answer of `judge`.
    func identify(
        for request: TLSIdentityRequest, host: String, port: UInt16, under profile: TLSProfile,
        reply: @escaping @Sendable (IdentityAnswer, TLSProfile?) -> Void)
}

/// The decision of a `PeerVerifier` about a peer.
package enum PeerVerdict: Hashable, Sendable {
    /// The peer is trusted, whatever its chain is.
    case accepted
    /// The peer is trusted without a check of its chain, or although the chain has not passed the checks.
    case acceptedUnchecked
    /// The peer is not trusted.
    case refused(TrustFailure)
    /// The verifier leaves the decision to the profile's evaluator.
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

/// What a handshake under a profile asks the verifier of the exchange for which the connection is opened.
package enum PeerQuestions: Hashable, Sendable {
    /// No question: the profile's evaluator and configuration decide.
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
    /// No exchange waits for the connection, because the pool is cancelling the dial.
    case abandoned
}
