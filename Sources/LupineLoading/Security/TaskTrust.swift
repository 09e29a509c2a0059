// SPDX-License-Identifier: MIT

import Foundation
import LupineTLS
import LupineTransport

/// Answers for one task what is asked when a connection is opened for it: makes challenges of the questions, and answers of
/// the dispositions (the table of spec section 11).
///
/// It remembers what the task has chosen to be, place by place, so that no later exchange of the task travels on a connection
/// of somebody else's identity (U-11.20). What its own delegate answers makes a connection that delegate's, what it leaves to
/// the session's makes it the session's (U-9.17). A task whose delegate wants no challenges has none. Any thread.
final class TaskTrust: PeerAsker {
    /// Where a choice was made: an origin that speaks TLS.
    private struct Place: Hashable, Sendable {
        let host: String
        let port: UInt16
    }

    /// Who the task has chosen to be.
    enum Choice: Hashable, Sendable {
        case identity(TLSIdentity)
        case nobody
    }

    private struct State: Sendable {
        /// Until the task has ended: it owns the exchange that holds this. Not weak: the weak reference would have each task
        /// that loads something keep a table of its own.
        var asker: (any ServerTrustAsker)?
        var choices: [Place: Choice] = [:]
        /// What was asked about last.
        var trusts: [Place: SecTrust] = [:]
    }

    /// The delegate of the task's own.
    private struct Own: Sendable {
        /// What it is known by.
        let party: TrustParty
        let type: ObjectIdentifier
        let takesTaskCalls: Bool

        /// Whether its class has no method that could answer.
        var isMute: Bool { ChallengeMethods.areMissing(in: type, takesTaskCalls: takesTaskCalls) }
    }

    private let own: Own?
    private let bridge: TrustBridge
    private let state: Lock<State>

    /// Answers through `asker`. `TrustBridge.trust(asking:)` makes it.
    init(asking asker: any ServerTrustAsker, of bridge: TrustBridge) {
        state = Lock(State(asker: asker))
        own = asker.ownDelegate.map {
            Own(
                party: .delegate(ObjectToken(of: $0)), type: ObjectIdentifier(type(of: $0)),
                takesTaskCalls: $0 is any URLSessionTaskDelegate)
        }
        self.bridge = bridge
    }

    /// The task has ended: whatever is still asked on its behalf is cancelled.
    func end() {
        // It may be the last reference, which goes outside of the lock.
        _ = state.withLock { $0.asker.take() }
    }

    /// Who is asked about the task's connections first: its own delegate, unless its class is known to have no method for it.
    /// That there is a delegate does not say that it judges; not to ask one that does would be to decide for it. What it, or
    /// another of its class, has passed on before says nothing: it may have asked a third.
    var party: TrustParty {
        guard let own, !own.isMute else { return .session }
        return own.party
    }

    private var asker: (any ServerTrustAsker)? { state.withLock { $0.asker } }

    /// Who the task has chosen to be at this origin; nil when it was not asked.
    func choice(host: String, port: UInt16) -> Choice? {
        state.withLock { $0.choices[Place(host: host, port: port)] }
    }

    /// What the delegate was asked about last at this origin.
    func trust(host: String, port: UInt16) -> SecTrust? {
        state.withLock { $0.trusts[Place(host: host, port: port)] }
    }

    // MARK: questions

    func judge(
        _ peer: PeerTrust, host: String, port: UInt16, under profile: TLSProfile,
        reply: @escaping @Sendable (PeerJudgement, TLSProfile?) -> Void
    ) {
        guard let asker else { return reply(.cancelled, nil) }
        let trust = SecTrust(peer, revocation: bridge.revocation)
        let place = Place(host: host, port: port)
        state.withLock { $0.trusts[place] = trust }
        let space = URLProtectionSpace(
            host: host, port: Int(port), protocol: NSURLProtectionSpaceHTTPS, realm: nil,
            authenticationMethod: NSURLAuthenticationMethodServerTrust, distinguishedNames: nil,
            serverTrust: trust)
        asker.evaluate(Self.challenge(space)) { [self] answer in
            let home = party(behind: answer).flatMap { bridge.profile(like: profile, for: $0) }
            reply(Self.judgement(answer.disposition, answer.credential), home)
        }
    }

    func acceptsByDefault(host: String, port: UInt16) -> Bool {
        guard case .session = party, let asker else { return false }
        return asker.defersServerTrust(ofHost: host)
    }

    func identify(
        for request: TLSIdentityRequest, host: String, port: UInt16, under profile: TLSProfile,
        reply: @escaping @Sendable (IdentityAnswer, TLSProfile?) -> Void
    ) {
        guard let asker else { return reply(.cancelled, nil) }
        let space = URLProtectionSpace(
            host: host, port: Int(port), protocol: NSURLProtectionSpaceHTTPS, realm: nil,
            authenticationMethod: NSURLAuthenticationMethodClientCertificate,
            distinguishedNames: request.acceptableIssuers.map { Data($0) })
        let place = Place(host: host, port: port)
        asker.evaluate(Self.challenge(space)) { [self] given in
            let answer = Self.identityAnswer(given.disposition, given.credential)
            state.withLock { state in
                switch answer {
                case .identity(let identity): state.choices[place] = .identity(identity)
                case .nobody: state.choices[place] = .nobody
                case .cancelled: break
                }
            }
            // What was the session's may become the delegate's. Never the other way: that has judged the peer.
            let party = party(behind: given)
            reply(answer, party == .session ? nil : party.flatMap { bridge.profile(like: profile, for: $0) })
        }
    }

    /// Whose a connection is after this answer; nil when nobody gave it.
    private func party(behind answer: ChallengeAnswer) -> TrustParty? {
        guard let speaker = answer.speaker else { return nil }
        guard let own else { return .session }
        return speaker == .session ? .session : own.party
    }

    /// The first of its kind, always: a connection is judged once.
    private static func challenge(_ space: URLProtectionSpace) -> URLAuthenticationChallenge {
        URLAuthenticationChallenge(space: space, credential: nil, failures: 0, response: nil)
    }

    // MARK: answers

    /// What a disposition says about a server's trust.
    static func judgement(
        _ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential?
    ) -> PeerJudgement {
        switch disposition {
        case .useCredential:
            credential?.trust.map { $0.wasChecked ? .accepted : .acceptedUnchecked } ?? .byDefault
        case .performDefaultHandling: .byDefault
        case .cancelAuthenticationChallenge: .cancelled
        case .rejectProtectionSpace: .refused(.refused("the protection space was rejected"))
        }
    }

    /// What a disposition says about who we are.
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
