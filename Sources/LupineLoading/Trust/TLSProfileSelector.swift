// SPDX-License-Identifier: MIT

import Foundation
import LupineTLS
import LupineTransport

/// Selects the TLS profile of an exchange: which party judges its peer, and which client identity it has.
///
/// Exchanges of tasks without a delegate share one profile. A connection with that profile asks no delegate: the loop evaluates
/// its chain, the verdict is cached, and TLS sessions are resumed. With any other profile, each new connection asks the task that
/// it is opened for (I-12.14, I-12.15). Each party (`TrustParty`) has its own profile, so that a connection which one delegate
/// has accepted despite its evaluation never serves a task with another delegate. After a task has chosen an identity, its
/// exchanges use a profile with that identity (U-11.20).
///
/// Only the answer to a challenge tells which delegate has answered it: `profile(like:for:)` then returns the profile that the
/// connection belongs to. One per session; may be used on any thread.
final class TLSProfileSelector: Sendable {
    /// The client identity of a connection.
    fileprivate enum IdentityKind: Hashable, Sendable {
        /// The configured identity, unless the task chooses another one when it is asked.
        case configured
        /// No identity, unless the task chooses one when it is asked: a redirect has left the task's origin (U-10.5).
        case crossOrigin
        /// The task's earlier choice.
        case chosen(TaskTrust.Choice)
    }

    /// The party and the client identity that a profile is for; used as the profile's label.
    fileprivate struct Kind: Hashable, Sendable {
        let party: TrustParty
        let identityKind: IdentityKind

        /// Whether the kind counts towards `profileLimit`: tasks can bring any number of delegates and identities.
        var isLimited: Bool {
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
        /// The kinds that count towards `profileLimit`, oldest first.
        var limited: [Kind] = []
    }

    /// The most profiles of tasks' own delegates and of chosen identities; beyond it, the oldest one is dropped.
    static let profileLimit = 64
    /// The most origins whose refused peer is kept.
    static let refusalLimit = 32

    private let configuration: TLSConfiguration
    private let evaluator: TrustEvaluator
    /// Obtains revocation answers.
    let revocation: RevocationSupport
    /// The profile of exchanges that ask no delegate, which are the most common.
    private let policyProfile: TLSProfile
    private let state: Lock<State>
    private let refusalHandler: TLSProfile.RefusalHandler
    private let refusals: Refusals

    /// Records refused peers. Separate from the selector, which owns the profiles, to avoid a cycle.
    private final class Refusals: Sendable {
        private struct Records: Sendable {
            var peers: [Endpoint: PeerTrust] = [:]
            /// The keys of `peers`, oldest first.
            var order: [Endpoint] = []
        }

        private let records = Lock(Records())

        func record(_ peer: PeerTrust, host: String, port: UInt16) {
            let endpoint = Endpoint(host: host, port: port)
            records.withLock { records in
                if records.peers.updateValue(peer, forKey: endpoint) == nil { records.order.append(endpoint) }
                if records.order.count > TLSProfileSelector.refusalLimit {
                    records.peers[records.order.removeFirst()] = nil
                }
            }
        }

        func peer(host: String, port: UInt16) -> PeerTrust? {
            records.withLock { $0.peers[Endpoint(host: host, port: port)] }
        }
    }

    /// Creates the selector of a session.
    ///
    /// - Parameters:
    ///   - configuration: The TLS settings of the session's connections, with the identity for tasks that choose none.
    ///   - evaluator: Evaluates peers when no delegate is asked, or the delegate leaves the decision to the default handling.
    ///   - revocation: Obtains revocation answers.
    init(
        _ configuration: TLSConfiguration, evaluator: TrustEvaluator = .default,
        revocation: RevocationSupport = .none
    ) {
        self.configuration = configuration
        self.evaluator = evaluator
        self.revocation = revocation
        let refusals = Refusals()
        let refusalHandler: TLSProfile.RefusalHandler = { peer, _, host, port in
            refusals.record(peer, host: host, port: port)
        }
        let kind = Kind(party: .policy, identityKind: .configured)
        let policyProfile = TLSProfile(
            configuration, trust: evaluator, revocation: revocation, refusalHandler: refusalHandler,
            label: kind)
        self.policyProfile = policyProfile
        self.refusalHandler = refusalHandler
        self.refusals = refusals
        state = Lock(State(profiles: [kind: policyProfile]))
    }

    /// Creates the object that passes the trust and identity questions of connections to the delegates of a task. One per task.
    func trust(asking challenger: any ServerTrustChallenger) -> TaskTrust {
        TaskTrust(asking: challenger, of: self)
    }

    /// The name of the roots that are used when no delegate is asked.
    var rootsName: String { policyProfile.rootsName }

    /// Returns the profile for an exchange with this origin.
    ///
    /// - Parameters:
    ///   - host: The origin's host.
    ///   - port: The origin's port.
    ///   - trust: The task's `TaskTrust`; nil to ask no delegate.
    ///   - mayIdentify: False after a redirect to another origin: the exchange then uses neither the configured identity nor the
    ///     one that the task chose earlier, and no connection on which either was used (U-10.5).
    func profile(
        host: String, port: UInt16, for trust: TaskTrust?, mayIdentify: Bool = true
    ) -> TLSProfile {
        guard let trust else {
            // `policyProfile` has no identity either if none is configured.
            return mayIdentify || configuration.identity == nil
                ? policyProfile : profile(Kind(party: .policy, identityKind: .crossOrigin))
        }
        guard mayIdentify else { return profile(Kind(party: trust.party, identityKind: .crossOrigin)) }
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
        guard let refused = trust?.trust(host: host, port: port) ?? refusedTrust(host: host, port: port)
        else { return [:] }
        return [NSURLErrorFailingURLPeerTrustErrorKey: refused]
    }

    /// Returns the trust of the peer of this origin that was refused last; nil for none.
    private func refusedTrust(host: String, port: UInt16) -> SecTrust? {
        refusals.peer(host: host, port: port).map { SecTrust($0, revocation: revocation) }
    }

    /// Returns the profile of this kind; creates it if there is none.
    private func profile(_ kind: Kind) -> TLSProfile {
        // Releases the dropped profile outside the lock: its evaluator may own objects of the program.
        let (profile, _) = state.withLock {
            [configuration, evaluator, revocation, refusalHandler] state -> (TLSProfile, TLSProfile?) in
            if let known = state.profiles[kind] { return (known, nil) }
            var dropped: TLSProfile?
            if kind.isLimited {
                state.limited.append(kind)
                if state.limited.count > Self.profileLimit {
                    dropped = state.profiles.removeValue(forKey: state.limited.removeFirst())
                }
            }
            var settings = configuration
            // A delegate is asked about the server, and about the identity unless the task has chosen one already.
            var questions = PeerQuestions.trustAndIdentity
            switch kind.identityKind {
            case .configured: break
            case .crossOrigin: settings.identity = nil
            case .chosen(.identity(let identity)):
                settings.identity = identity
                questions = .trust
            case .chosen(.noIdentity):
                settings.identity = nil
                questions = .trust
            }
            if kind.party == .policy { questions = .none }
            // Profiles with equal settings share the data loaded for them, which does not depend on the party.
            let profile: TLSProfile
            if let similar = state.profiles.values.first(where: { $0.configuration == settings }) {
                profile = TLSProfile(
                    sharing: similar, questions: questions, refusalHandler: refusalHandler, label: kind)
            } else {
                profile = TLSProfile(
                    settings, trust: evaluator, revocation: revocation, questions: questions,
                    refusalHandler: refusalHandler, label: kind)
            }
            state.profiles[kind] = profile
            return (profile, dropped)
        }
        return profile
    }
}

extension TLSProfile {
    /// The party that the profile's connections belong to.
    var party: TrustParty { (label as? TLSProfileSelector.Kind)?.party ?? .policy }
}
