// SPDX-License-Identifier: MIT

import Foundation
import LupineTLS
import LupineTransport

/// Answers the trust and identity questions of the connections that are opened for one task. It converts the questions to
/// challenges for the delegates, and the delegates' dispositions to answers (by the table in
/// Documentation/Behaviour/06-url-loading.md, section 11).
///
/// The verifier remembers the identity that the task has chosen for each origin, so that no later exchange of the task uses a
/// connection with another identity (U-11.20). If the task's own delegate answers the challenge, the connection belongs to that
/// delegate. If that delegate leaves the challenge to the session's delegate, the connection belongs to the session (U-9.17). A
/// task without a delegate that answers challenges has no verifier. May be used on any thread.
final class TaskPeerVerifier: PeerVerifier {
    /// The server to which a choice of an identity or a trust belongs.
    private struct Endpoint: Hashable, Sendable {
        let host: String
        let port: UInt16
    }

    /// The client identity that the task has chosen.
    enum IdentityChoice: Hashable, Sendable {
        /// The task presents this identity.
        case identity(TLSIdentity)
        /// The task presents no client certificate.
        case noIdentity
    }

    private struct State: Sendable {
        /// The task; nil once it has ended. Setting it to nil breaks a reference cycle: the task owns the exchange, and the
        /// exchange owns this object. The reference is not weak, because that would allocate a side table for each task.
        var challenger: (any ServerTrustChallenger)?
        /// The identities that the task has chosen, by server.
        var identityChoices: [Endpoint: IdentityChoice] = [:]
        /// The trust in the last server-trust challenge of each server.
        var trusts: [Endpoint: SecTrust] = [:]
    }

    /// The task's own delegate.
    private struct OwnDelegate: Sendable {
        /// The party that the connections of this delegate belong to.
        let party: TrustParty
        /// The delegate's class.
        let type: ObjectIdentifier
        /// Whether the class conforms to `URLSessionTaskDelegate`.
        let isTaskDelegate: Bool

        /// Whether the delegate's class is known to implement no challenge method.
        var lacksChallengeMethods: Bool {
            ChallengeMethods.areMissing(in: type, isTaskDelegate: isTaskDelegate)
        }
    }

    private let ownDelegate: OwnDelegate?
    private let selector: TLSProfileSelector
    private let state: Lock<State>

    /// Creates an object that asks the delegates of `challenger`. Called by `TLSProfileSelector.verifier(asking:)`.
    init(asking challenger: any ServerTrustChallenger, of selector: TLSProfileSelector) {
        state = Lock(State(challenger: challenger))
        ownDelegate = challenger.ownDelegate.map {
            OwnDelegate(
                party: .delegate(ObjectToken(of: $0)), type: ObjectIdentifier(type(of: $0)),
                isTaskDelegate: $0 is any URLSessionTaskDelegate)
        }
        self.selector = selector
    }

    /// Releases the task; called when the task ends. Later questions of its connections are answered with `cancelled`.
    func end() {
        // `take` sets the property to nil. Its result is released here, outside the lock: it may be the last reference.
        _ = state.withLock { $0.challenger.take() }
    }

    /// The party that is asked first about the task's connections: the task's own delegate, unless its class is known to
    /// implement no challenge method. A delegate with such a method is always asked, even if it has left all earlier challenges
    /// to the default handling: it may answer the next one.
    var party: TrustParty {
        guard let ownDelegate, !ownDelegate.lacksChallengeMethods else { return .session }
        return ownDelegate.party
    }

    /// The task; nil once it has ended.
    private var challenger: (any ServerTrustChallenger)? { state.withLock { $0.challenger } }

    /// Returns the identity that the task has chosen for this origin; nil if the task was not asked.
    func identityChoice(host: String, port: UInt16) -> IdentityChoice? {
        state.withLock { $0.identityChoices[Endpoint(host: host, port: port)] }
    }

    /// Returns the trust about which a delegate was last asked for this origin; nil if none was asked.
    func trust(host: String, port: UInt16) -> SecTrust? {
        state.withLock { $0.trusts[Endpoint(host: host, port: port)] }
    }

    // MARK: questions of a connection (`PeerVerifier`)

    /// Asks the delegate whether the peer is trusted, by a server-trust challenge.
    func judge(
        _ peer: PeerTrust, host: String, port: UInt16, under profile: TLSProfile,
        reply: @escaping @Sendable (PeerVerdict, TLSProfile?) -> Void
    ) {
        // Without a challenger the task has ended. Here and below, a nil profile leaves the connection under its profile.
        guard let challenger else { return reply(.cancelled, nil) }
        let trust = SecTrust(peer, revocation: selector.revocation)
        let endpoint = Endpoint(host: host, port: port)
        state.withLock { $0.trusts[endpoint] = trust }
        let space = URLProtectionSpace(
            host: host, port: Int(port), protocol: NSURLProtectionSpaceHTTPS, realm: nil,
            authenticationMethod: NSURLAuthenticationMethodServerTrust, distinguishedNames: nil,
            serverTrust: trust)
        challenger.evaluate(Self.challenge(space)) { [self] answer in
            let newProfile = party(after: answer).flatMap { selector.profile(like: profile, for: $0) }
            reply(Self.verdict(answer.disposition, answer.credential), newProfile)
        }
    }

    /// Returns whether the session's delegate would certainly leave the decision about this host to the session's policy. False
    /// if the task's own delegate is asked first.
    func acceptsByDefault(host: String, port: UInt16) -> Bool {
        guard case .session = party, let challenger else { return false }
        return challenger.defersServerTrust(ofHost: host)
    }

    /// Asks the delegate for the identity to present, by a client-certificate challenge, and records its choice.
    func identify(
        for request: TLSIdentityRequest, host: String, port: UInt16, under profile: TLSProfile,
        reply: @escaping @Sendable (IdentityAnswer, TLSProfile?) -> Void
    ) {
        guard let challenger else { return reply(.cancelled, nil) }
        let space = URLProtectionSpace(
            host: host, port: Int(port), protocol: NSURLProtectionSpaceHTTPS, realm: nil,
            authenticationMethod: NSURLAuthenticationMethodClientCertificate,
            distinguishedNames: request.acceptableIssuers.map { Data($0) })
        let endpoint = Endpoint(host: host, port: port)
        challenger.evaluate(Self.challenge(space)) { [self] challengeAnswer in
            let answer = Self.identityAnswer(challengeAnswer.disposition, challengeAnswer.credential)
            state.withLock { state in
                switch answer {
                case .identity(let identity): state.identityChoices[endpoint] = .identity(identity)
                case .nobody: state.identityChoices[endpoint] = .noIdentity
                case .cancelled: break
                }
            }
            // A connection of the session may become a connection of the task's own delegate. The reverse is not possible,
            // because the own delegate has then accepted the peer already.
            var newProfile: TLSProfile?
            if let party = party(after: challengeAnswer), party != .session {
                newProfile = selector.profile(like: profile, for: party)
            }
            reply(answer, newProfile)
        }
    }

    /// Returns the party to which a connection belongs after this answer; nil if the task ended before a delegate answered.
    private func party(after answer: ChallengeAnswer) -> TrustParty? {
        guard let responder = answer.responder else { return nil }
        guard let ownDelegate else { return .session }
        return responder == .session ? .session : ownDelegate.party
    }

    /// Creates a challenge. It has no previous failures, because a delegate is asked only once about a connection.
    private static func challenge(_ space: URLProtectionSpace) -> URLAuthenticationChallenge {
        URLAuthenticationChallenge(space: space, credential: nil, failures: 0, response: nil)
    }

    // MARK: answers

    /// Returns the verdict on a server for a disposition of its challenge.
    static func verdict(
        _ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential?
    ) -> PeerVerdict {
        switch disposition {
        case .useCredential:
            // A credential without a trust, or none, counts as the default handling. `wasChecked` tells whether the chain has
            // passed an evaluation, or a comparison with pins.
            credential?.trust.map { $0.wasChecked ? .accepted : .acceptedUnchecked } ?? .byDefault
        case .performDefaultHandling: .byDefault
        case .cancelAuthenticationChallenge: .cancelled
        case .rejectProtectionSpace: .refused(.refused("the protection space was rejected"))
        }
    }

    /// Returns the answer to a request for a client certificate for a disposition of its challenge.
    static func identityAnswer(
        _ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential?
    ) -> IdentityAnswer {
        switch disposition {
        // A credential without a client identity, or none, presents nothing.
        case .useCredential: credential?.presentedIdentity.map { .identity($0) } ?? .nobody
        case .performDefaultHandling, .rejectProtectionSpace: .nobody
        case .cancelAuthenticationChallenge: .cancelled
        }
    }
}
