// SPDX-License-Identifier: MIT

import Foundation
import LupineTLS
import LupineTransport

/// Decides which TLS profile an exchange of a session uses: who judges its peer, and which client identity it has.
///
/// Exchanges of tasks without a delegate share one profile. With it no delegate is asked: chains are evaluated on the loop,
/// verdicts are cached, and TLS sessions are resumed. With any other profile each new connection asks the task that it is opened
/// for (I-12.14, I-12.15). Each party has a profile of its own (`TrustParty`): the session's delegate, and every task's own
/// delegate. So a connection that one delegate has accepted despite its evaluation is never used for a task with another one.
/// When a task has chosen an identity, its further exchanges use a profile with that identity (U-11.20).
///
/// Which delegate answers is known only afterwards: `profile(like:for:)` then returns the profile that the connection belongs to.
/// One per session; may be used on any thread.
final class TLSProfileSelector: Sendable {
    /// The client identity of a connection.
    fileprivate enum IdentityKind: Hashable, Sendable {
        /// The configured identity, or the one that the task answers with.
        case configured
        /// As `configured`, without the configured identity: a redirect has left the task's origin (U-10.5).
        case foreign
        /// The task's earlier choice.
        case chosen(TaskTrust.Choice)
    }

    /// What a profile is for; used as its label.
    fileprivate struct Kind: Hashable, Sendable {
        let party: TrustParty
        let identityKind: IdentityKind

        /// Whether there may be any number of profiles of this kind.
        var isOneOfMany: Bool {
            if case .delegate = party { return true }
            if case .chosen = identityKind { return true }
            return false
        }
    }

    private struct Endpoint: Hashable, Sendable {
        let host: String
        let port: UInt16
    }

    private struct State: Sendable {
        var profiles: [Kind: TLSProfile]
        /// The kinds with single delegates or chosen identities, oldest first.
        var many: [Kind] = []
    }

    /// The most profiles of single delegates and chosen identities; beyond that the oldest is dropped.
    static let profileLimit = 64
    /// The number of origins whose refused peer is kept.
    static let refusalLimit = 32

    private let configuration: TLSConfiguration
    private let evaluator: TrustEvaluator
    /// How revocation answers are obtained.
    let revocation: RevocationSupport
    /// The profile of exchanges without a delegate to ask, which are the most common.
    private let plain: TLSProfile
    private let state: Lock<State>
    private let witness: TLSProfile.RefusalHandler
    private let refusals: Refusals

    /// Records refused peers. Separate from the selector, which owns the profiles, to avoid a cycle.
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
                if notes.order.count > TLSProfileSelector.refusalLimit {
                    notes.peers[notes.order.removeFirst()] = nil
                }
            }
        }

        func peer(host: String, port: UInt16) -> PeerTrust? {
            notes.withLock { $0.peers[Endpoint(host: host, port: port)] }
        }
    }

    /// Creates the selector of a session.
    ///
    /// - Parameters:
    ///   - configuration: The TLS settings of its connections, with the identity that is used unless a task chooses one.
    ///   - evaluator: How peers are evaluated by default, and when no delegate is asked.
    ///   - revocation: How revocation answers are obtained.
    init(
        _ configuration: TLSConfiguration, evaluator: TrustEvaluator = .default,
        revocation: RevocationSupport = .none
    ) {
        self.configuration = configuration
        self.evaluator = evaluator
        self.revocation = revocation
        let refusals = Refusals()
        let witness: TLSProfile.RefusalHandler = { peer, _, host, port in
            refusals.note(peer, host: host, port: port)
        }
        let kind = Kind(party: .policy, identityKind: .configured)
        let plain = TLSProfile(
            configuration, trust: evaluator, revocation: revocation, refusalHandler: witness, label: kind)
        self.plain = plain
        self.witness = witness
        self.refusals = refusals
        state = Lock(State(profiles: [kind: plain]))
    }

    /// Creates the object that passes the trust and identity questions of connections to the delegate of a task. One per task;
    /// stored in `ExchangeOptions.challenger`.
    func trust(asking challenger: any ServerTrustChallenger) -> TaskTrust {
        TaskTrust(asking: challenger, of: self)
    }

    /// The name of the roots that are used when no delegate is asked.
    var rootsName: String { plain.rootsName }

    /// Returns the profile for an exchange with this origin.
    ///
    /// - Parameters:
    ///   - trust: The task's `TaskTrust`; nil when no delegate is to be asked.
    ///   - mayIdentify: False after a redirect to another origin: the exchange then uses neither the configured identity nor the
    ///     one that the task chose earlier, and no connection on which either was used (U-10.5).
    func profile(
        host: String, port: UInt16, for trust: TaskTrust?, mayIdentify: Bool = true
    ) -> TLSProfile {
        guard let trust else {
            // Without a configured identity there is nothing to omit.
            return mayIdentify || configuration.identity == nil
                ? plain : profile(Kind(party: .policy, identityKind: .foreign))
        }
        guard mayIdentify else { return profile(Kind(party: trust.party, identityKind: .foreign)) }
        let choice = trust.choice(host: host.lowercased(), port: port)
        return profile(Kind(party: trust.party, identityKind: choice.map { .chosen($0) } ?? .configured))
    }

    /// Returns the profile to which a connection opened under `profile` belongs once this party has accepted its peer; nil when
    /// that is `profile` itself.
    func profile(like profile: TLSProfile, for party: TrustParty) -> TLSProfile? {
        guard let kind = profile.label as? Kind, kind.party != party else { return nil }
        return self.profile(Kind(party: party, identityKind: kind.identityKind))
    }

    // MARK: refused peers

    /// The `userInfo` of the `URLError` for `error`: the trust of a refused peer, under `NSURLErrorFailingURLPeerTrustErrorKey`
    /// (U-11.19).
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
        // The dropped profile is released outside the lock: its evaluator may hold objects of the program's.
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
            switch kind.identityKind {
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
            // The data loaded for a configuration does not depend on who is asked, so it is shared.
            let twin = state.profiles.values.first { $0.configuration == own }
            let profile =
                twin.map {
                    TLSProfile(sharing: $0, questions: questions, refusalHandler: witness, label: kind)
                }
                ?? TLSProfile(
                    own, trust: evaluator, revocation: revocation, questions: questions,
                    refusalHandler: witness, label: kind)
            state.profiles[kind] = profile
            return (profile, gone)
        }
        return profile
    }
}

extension TLSProfile {
    /// The party that may use these connections.
    var party: TrustParty { (label as? TLSProfileSelector.Kind)?.party ?? .policy }
}
