// SPDX-License-Identifier: MIT

package import LupineTLS

/// Who answers, for one exchange, what is asked when a connection is opened for it: whether its peer is trusted, and who we
/// are where the peer wants to know.
///
/// An exchange that brings one (`ExchangeOptions.asker`), to an origin whose profile asks, is tied to the connection that is
/// being opened as soon as the peer's chain has come: it runs there and nowhere else, and what its answers make of the
/// connection befalls it alone. A connection that stands already is lent to it without a question, unless
/// an identity was shown there that somebody has answered with: such a connection ends with the exchange that it is for.
///
/// The methods are called on a loop and may not block. Each `reply` is called once, from any thread; without an answer, the
/// peer is refused and the identity is nobody's.
///
/// Who has answered is known only afterwards, so each answer names the profile that the connection is under from there on;
/// nil leaves it where it is. A connection whose handshake is done belongs to its last one: it is lent, and its sessions
/// are offered, under that profile and no other.
package protocol PeerAsker: AnyObject, Sendable {
    /// Asks whether the peer of a connection that is opened under `profile` is who it says it is.
    func judge(
        _ peer: PeerTrust, host: String, port: UInt16, under profile: TLSProfile,
        reply: @escaping @Sendable (PeerJudgement, TLSProfile?) -> Void)
    /// Whether it is certain that `judge` would leave it to the profile's evaluator who that host is, and that nobody wants to be
    /// asked first: then a connection that stands, and that the evaluator has accepted for this host, is lent without a question
    /// though it was opened for another one.
    func acceptsByDefault(host: String, port: UInt16) -> Bool
    /// Asks who we are on a connection that is under `profile` by now. The peer has been accepted before.
    func identify(
        for request: TLSIdentityRequest, host: String, port: UInt16, under profile: TLSProfile,
        reply: @escaping @Sendable (IdentityAnswer, TLSProfile?) -> Void)
}

/// An answer about a peer.
package enum PeerJudgement: Hashable, Sendable {
    /// It is trusted, whatever its chain says.
    case accepted
    /// The same, by somebody whose checks, if there were any, its chain has not passed.
    case acceptedUnchecked
    /// It is not.
    case refused(TrustFailure)
    /// What the profile's evaluator says.
    case byDefault
    /// The exchange is not wanted any more.
    case cancelled
}

/// An answer to who we are.
package enum IdentityAnswer: Hashable, Sendable {
    /// This is who.
    case identity(TLSIdentity)
    /// Nobody: the handshake goes on without.
    case nobody
    /// The exchange is not wanted any more.
    case cancelled
}

/// What connections under a profile ask of the exchange that they are opened for.
package enum PeerQuestions: Hashable, Sendable {
    /// Nothing: the evaluator and the configuration answer.
    case none
    /// Whether the peer is trusted.
    case trust
    /// Also who we are, if the peer wants to know.
    case trustAndIdentity
}

/// Whom a connection that is being opened is for.
enum PeerClaim {
    /// An exchange, which is tied to it from here on, with whoever answers for it.
    case claimed((any PeerAsker)?)
    /// Nobody any more: it is being given up.
    case nobodyWaits
}
