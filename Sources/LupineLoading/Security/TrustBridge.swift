// SPDX-License-Identifier: MIT

import Foundation
import LupineTLS
import LupineTransport

/// Decides under which TLS profile an exchange of a session travels: who judges its peer, and who we are there.
///
/// Exchanges of tasks without a delegate share one profile. There nobody is asked: chains are judged on the loop, verdicts are
/// kept, sessions are resumed. Under all others every new connection asks the task that it is opened for (I-12.14, I-12.15).
/// Each party has its own (`TrustParty`): the session's delegate, and every delegate of a task's own. So a connection that
/// somebody has accepted against all evaluation is never lent to a task that would have had another asked. Where a
/// task has chosen an identity, its further exchanges have a profile of that identity, too (U-11.20).
///
/// Who answers is known only afterwards: then `profile(like:for:)` has the profile that the connection belongs to. One per
/// session; any thread.
final class TrustBridge: Sendable {
    /// Who we are on a connection.
    fileprivate enum Face: Hashable, Sendable {
        /// The configured identity, or what the task answers.
        case configured
        /// The same without the configured identity: the hop has left the task's origin (U-10.5).
        case foreign
        /// What a task has said before.
        case chosen(TaskTrust.Choice)
    }

    /// What a profile is for: its label.
    fileprivate struct Kind: Hashable, Sendable {
        let party: TrustParty
        let face: Face

        /// Whether there may be any number of the kind.
        var isOneOfMany: Bool {
            if case .delegate = party { return true }
            if case .chosen = face { return true }
            return false
        }
    }

    private struct Endpoint: Hashable, Sendable {
        let host: String
        let port: UInt16
    }

    private struct State: Sendable {
        var profiles: [Kind: TLSProfile]
        /// Those of single delegates and chosen identities, in the order in which they were made.
        var many: [Kind] = []
    }

    /// How many delegates and chosen identities keep their connections to share; one more makes the first forgotten.
    static let profileLimit = 64
    /// For how many origins the refused peer is kept.
    static let refusalLimit = 32

    private let configuration: TLSConfiguration
    private let evaluator: TrustEvaluator
    /// How answers about revocation are had.
    let revocation: RevocationSupport
    /// Of exchanges that nobody is asked about: the way of most.
    private let plain: TLSProfile
    private let state: Lock<State>
    private let witness: TLSProfile.RefusalWitness
    private let refusals: Refusals

    /// Where profiles note refused peers: apart from the bridge, which owns the profiles.
    private final class Refusals: Sendable {
        private struct Notes: Sendable {
            var peers: [Endpoint: PeerTrust] = [:]
            var order: [Endpoint] = []
        }

        private let notes = Lock(Notes())

        func note(_ peer: PeerTrust, host: String, port: UInt16) {
            let endpoint = Endpoint(host: host, port: port)
            notes.withLock { notes in
                if notes.peers.updateValue(peer, forKey: endpoint) == nil { notes.order.append(endpoint) }
                if notes.order.count > TrustBridge.refusalLimit {
                    notes.peers[notes.order.removeFirst()] = nil
                }
            }
        }

        func peer(host: String, port: UInt16) -> PeerTrust? {
            notes.withLock { $0.peers[Endpoint(host: host, port: port)] }
        }
    }

    /// The bridge of a session.
    ///
    /// - Parameters:
    ///   - configuration: How its connections are secured, and who it is unless a task says otherwise.
    ///   - evaluator: How peers are judged when nobody is asked, and by default.
    ///   - revocation: How answers about revocation are had.
    init(
        _ configuration: TLSConfiguration, evaluator: TrustEvaluator = .default,
        revocation: RevocationSupport = .none
    ) {
        self.configuration = configuration
        self.evaluator = evaluator
        self.revocation = revocation
        let refusals = Refusals()
        let witness: TLSProfile.RefusalWitness = { peer, _, host, port in
            refusals.note(peer, host: host, port: port)
        }
        let kind = Kind(party: .policy, face: .configured)
        let plain = TLSProfile(
            configuration, trust: evaluator, revocation: revocation, refusalWitness: witness, label: kind)
        self.plain = plain
        self.witness = witness
        self.refusals = refusals
        state = Lock(State(profiles: [kind: plain]))
    }

    /// What a task brings along whose delegate wants challenges. One per task; it goes into `ExchangeOptions.asker`.
    func trust(asking asker: any ServerTrustAsker) -> TaskTrust {
        TaskTrust(asking: asker, of: self)
    }

    /// The name of the roots that it goes by where nobody is asked.
    var rootsName: String { plain.rootsName }

    /// The profile for an exchange with this origin.
    ///
    /// - Parameters:
    ///   - trust: What its task brings along; nil when nobody wants to be asked.
    ///   - mayIdentify: False behind a redirect to another origin: then neither the configured identity is used, nor what the
    ///     task has chosen before, nor a connection that either was used on (U-10.5).
    func profile(
        host: String, port: UInt16, for trust: TaskTrust?, mayIdentify: Bool = true
    ) -> TLSProfile {
        guard let trust else {
            // Without an identity there is nothing to leave out.
            return mayIdentify || configuration.identity == nil
                ? plain : profile(Kind(party: .policy, face: .foreign))
        }
        guard mayIdentify else { return profile(Kind(party: trust.party, face: .foreign)) }
        let choice = trust.choice(host: host.lowercased(), port: port)
        return profile(Kind(party: trust.party, face: choice.map { .chosen($0) } ?? .configured))
    }

    /// The profile that a connection opened under `profile` belongs to once this party has answered; nil when it is the same.
    func profile(like profile: TLSProfile, for party: TrustParty) -> TLSProfile? {
        guard let kind = profile.label as? Kind, kind.party != party else { return nil }
        return self.profile(Kind(party: party, face: kind.face))
    }

    // MARK: refused peers

    /// What belongs into the `userInfo` of the `URLError` for `error`: the trust of a refused peer, under
    /// `NSURLErrorFailingURLPeerTrustErrorKey` (U-11.19).
    func userInfo(for error: TransportError, of trust: TaskTrust?) -> [String: Any] {
        guard case .tls(let host, let port, .untrusted) = error else { return [:] }
        guard let asked = trust?.trust(host: host, port: port) ?? refusedTrust(host: host, port: port) else {
            return [:]
        }
        return [NSURLErrorFailingURLPeerTrustErrorKey: asked]
    }

    private func refusedTrust(host: String, port: UInt16) -> SecTrust? {
        refusals.peer(host: host, port: port).map { SecTrust($0, revocation: revocation) }
    }

    private func profile(_ kind: Kind) -> TLSProfile {
        // What makes room goes away outside of the lock: its evaluator may hold what is the program's.
        let (profile, _) = state.withLock {
            [configuration, evaluator, revocation, witness] state -> (TLSProfile, TLSProfile?) in
            if let known = state.profiles[kind] { return (known, nil) }
            var gone: TLSProfile?
            if kind.isOneOfMany {
                state.many.append(kind)
                if state.many.count > Self.profileLimit {
                    gone = state.profiles.removeValue(forKey: state.many.removeFirst())
                }
            }
            var own = configuration
            var questions = PeerQuestions.trustAndIdentity
            switch kind.face {
            case .configured: break
            case .foreign: own.identity = nil
            case .chosen(.identity(let identity)):
                own.identity = identity
                questions = .trust
            case .chosen(.nobody):
                own.identity = nil
                questions = .trust
            }
            if kind.party == .policy { questions = .none }
            // What is loaded for a configuration does not depend on who is asked.
            let twin = state.profiles.values.first { $0.configuration == own }
            let profile =
                twin.map {
                    TLSProfile(sharing: $0, questions: questions, refusalWitness: witness, label: kind)
                }
                ?? TLSProfile(
                    own, trust: evaluator, revocation: revocation, questions: questions,
                    refusalWitness: witness, label: kind)
            state.profiles[kind] = profile
            return (profile, gone)
        }
        return profile
    }
}

extension TLSProfile {
    /// Whose connections these are.
    var party: TrustParty { (label as? TrustBridge.Kind)?.party ?? .policy }
}
