// SPDX-License-Identifier: MIT

import Foundation
import LupineTLS
import LupineTransport

/// Answers the trust and identity questions of the connections that are opened for one task: turns them into challenges, and the
/// dispositions into answers (the table of spec section 11).
///
/// It remembers the identity that the task has chosen per origin, so that no later exchange of the task uses a connection with
/// another identity (U-11.20). A connection that the task's own delegate has answered for belongs to that delegate; one that was
/// left to the session's belongs to the session (U-9.17). A task without a delegate that answers challenges has no `TaskTrust`.
/// May be used on any thread.
final class TaskTrust: PeerVerifier {
    /// The TLS origin that a choice was made for.
    private struct Place: Hashable, Sendable {
        let host: String
        let port: UInt16
    }

    /// The client identity that the task has chosen.
    enum Choice: Hashable, Sendable {
        case identity(TLSIdentity)
        case nobody
    }

    private struct State: Sendable {
        /// Set until the task ends, which breaks a cycle: the task owns the exchange that holds this. Not weak, because a weak
        /// reference would allocate a side table for each task that loads something.
        var challenger: (any ServerTrustChallenger)?
        var choices: [Place: Choice] = [:]
        /// The trust of the last challenge.
        var trusts: [Place: SecTrust] = [:]
    }

    /// The task's own delegate.
    private struct Own: Sendable {
        /// Its identity as the owner of connections.
        let party: TrustParty
        let type: ObjectIdentifier
        let takesTaskCalls: Bool

        /// Whether its class implements no challenge method.
        var isMute: Bool { ChallengeMethods.areMissing(in: type, takesTaskCalls: takesTaskCalls) }
    }

    private let own: Own?
    private let bridge: TLSProfileSelector
    private let state: Lock<State>

    /// Creates the answers of `challenger`. Use `TLSProfileSelector.trust(asking:)`.
    init(asking challenger: any ServerTrustChallenger, of bridge: TLSProfileSelector) {
        state = Lock(State(challenger: challenger))
        own = challenger.ownDelegate.map {
            Own(
                party: .delegate(ObjectToken(of: $0)), type: ObjectIdentifier(type(of: $0)),
                takesTaskCalls: $0 is any URLSessionTaskDelegate)
        }
        self.bridge = bridge
    }

    /// Called when the task ends: challenges that are still asked on its behalf are cancelled.
    func end() {
        // May be the last reference, which has to be released outside the lock.
        _ = state.withLock { $0.challenger.take() }
    }

    /// The party that is asked first about the task's connections: its own delegate, unless its class is known to implement no
    /// challenge method. Such a delegate need not judge peers, but not asking one that does would be deciding for it. That the
    /// delegate, or another of its class, has passed a challenge on proves nothing: it may have forwarded it to another object.
    var party: TrustParty {
        guard let own, !own.isMute else { return .session }
        return own.party
    }

    private var challenger: (any ServerTrustChallenger)? { state.withLock { $0.challenger } }

    /// The task's choice of identity at this origin; nil when it was not asked.
    func choice(host: String, port: UInt16) -> Choice? {
        state.withLock { $0.choices[Place(host: host, port: port)] }
    }

    /// The trust that the delegate was last asked about at this origin.
    func trust(host: String, port: UInt16) -> SecTrust? {
        state.withLock { $0.trusts[Place(host: host, port: port)] }
    }

    // MARK: questions

    func judge(
        _ peer: PeerTrust, host: String, port: UInt16, under profile: TLSProfile,
        reply: @escaping @Sendable (PeerVerdict, TLSProfile?) -> Void
    ) {
        guard let challenger else { return reply(.cancelled, nil) }
        let trust = SecTrust(peer, revocation: bridge.revocation)
        let place = Place(host: host, port: port)
        state.withLock { $0.trusts[place] = trust }
        let space = URLProtectionSpace(
            host: host, port: Int(port), protocol: NSURLProtectionSpaceHTTPS, realm: nil,
            authenticationMethod: NSURLAuthenticationMethodServerTrust, distinguishedNames: nil,
            serverTrust: trust)
        challenger.evaluate(Self.challenge(space)) { [self] answer in
            let home = party(behind: answer).flatMap { bridge.profile(like: profile, for: $0) }
            reply(Self.judgement(answer.disposition, answer.credential), home)
        }
    }

    func acceptsByDefault(host: String, port: UInt16) -> Bool {
        guard case .session = party, let challenger else { return false }
        return challenger.defersServerTrust(ofHost: host)
    }

    func identify(
        for request: TLSIdentityRequest, host: String, port: UInt16, under profile: TLSProfile,
        reply: @escaping @Sendable (IdentityAnswer, TLSProfile?) -> Void
    ) {
        guard let challenger else { return reply(.cancelled, nil) }
        let space = URLProtectionSpace(
            host: host, port: Int(port), protocol: NSURLProtectionSpaceHTTPS, realm: nil,
            authenticationMethod: NSURLAuthenticationMethodClientCertificate,
            distinguishedNames: request.acceptableIssuers.map { Data($0) })
        let place = Place(host: host, port: port)
        challenger.evaluate(Self.challenge(space)) { [self] given in
            let answer = Self.identityAnswer(given.disposition, given.credential)
            state.withLock { state in
                switch answer {
                case .identity(let identity): state.choices[place] = .identity(identity)
                case .nobody: state.choices[place] = .nobody
                case .cancelled: break
                }
            }
            // A connection of the session's may become the delegate's, but never the reverse: the delegate has judged the peer
            // already.
            let party = party(behind: given)
            reply(answer, party == .session ? nil : party.flatMap { bridge.profile(like: profile, for: $0) })
        }
    }

    /// The owner of a connection after this answer; nil when no delegate answered.
    private func party(behind answer: ChallengeAnswer) -> TrustParty? {
        guard let responder = answer.responder else { return nil }
        guard let own else { return .session }
        return responder == .session ? .session : own.party
    }

    /// Always without previous failures: a connection is judged only once.
    private static func challenge(_ space: URLProtectionSpace) -> URLAuthenticationChallenge {
        URLAuthenticationChallenge(space: space, credential: nil, failures: 0, response: nil)
    }

    // MARK: answers

    /// Translates a disposition into a judgement of a server's trust.
    static func judgement(
        _ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential?
    ) -> PeerVerdict {
        switch disposition {
        case .useCredential:
            credential?.trust.map { $0.wasChecked ? .accepted : .acceptedUnchecked } ?? .byDefault
        case .performDefaultHandling: .byDefault
        case .cancelAuthenticationChallenge: .cancelled
        case .rejectProtectionSpace: .refused(.refused("the protection space was rejected"))
        }
    }

    /// Translates a disposition into an answer to a request for a client certificate.
    static func identityAnswer(
        _ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential?
    ) -> IdentityAnswer {
        switch disposition {
        case .useCredential: credential?.presentedIdentity.map { .identity($0) } ?? .nobody
        case .performDefaultHandling, .rejectProtectionSpace: .nobody
        case .cancelAuthenticationChallenge: .cancelled
        }
    }
}
