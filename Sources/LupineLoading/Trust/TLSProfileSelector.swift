// SPDX-License-Identifier: MIT

import Foundation
import LupineTLS
import LupineTransport

/// Selects the TLS profile of an exchange: which party decides about the server, and which client identity may be used.
///
/// Exchanges of tasks without a delegate share one profile. A connection with that profile asks no delegate: its event loop
/// evaluates the peer's chain, caches the verdict, and resumes TLS sessions. With any other profile, each new connection asks the
/// task for which it is opened (I-12.14, I-12.15). Each party (`TrustParty`) has its own profile. A connection that one delegate
/// has accepted despite its evaluation therefore never serves a task with another delegate. After a task has chosen an identity,
/// its exchanges use a profile with that identity (U-11.20).
///
/// Which delegate answers a challenge is known only after the answer: `profile(like:for:)` then returns the profile to which the
/// connection belongs. Each session has one selector, which may be used on any thread.
final class TLSProfileSelector: Sendable {
    /// The client identity of a connection.
    fileprivate enum ClientIdentity: Hashable, Sendable {
        /// The configured identity, unless the task's delegate chooses another one for the connection.
        case configured
        /// No identity, unless the task's delegate chooses one for the connection: a redirect has left the task's origin
        /// (U-10.5).
        case noneCrossOrigin
        /// The identity that the task has chosen for an earlier connection.
        case chosen(TaskPeerVerifier.IdentityChoice)
    }

    /// Identifies a profile by the party and the client identity of its connections; stored as the profile's label.
    fileprivate struct ProfileKey: Hashable, Sendable {
        let party: TrustParty
        let clientIdentity: ClientIdentity

        /// Whether the profile counts towards `profileLimit`: tasks can have any number of delegates and identities.
        var isLimitedInNumber: Bool {
            if case .delegate = party { return true }
            if case .chosen = clientIdentity { return true }
            return false
        }
    }

    /// The host and port of an origin.
    private struct Endpoint: Hashable, Sendable {
        let host: String
        let port: UInt16
    }

    private struct State: Sendable {
        var profiles: [ProfileKey: TLSProfile]
        /// The keys of the profiles that count towards `profileLimit`, oldest first.
        var limitedKeys: [ProfileKey] = []
    }

    /// The most profiles of tasks' own delegates and of chosen identities. Beyond this limit, the selector drops the oldest
    /// profile.
    static let profileLimit = 64
    /// The most origins whose last refused peer is recorded.
    static let refusalLimit = 32

    private let configuration: TLSConfiguration
    /// Evaluates peers when no delegate decides.
    private let evaluator: TrustEvaluator
    /// Obtains revocation answers: OCSP responses and revocation lists.
    let revocation: RevocationSupport
    /// The profile of exchanges that ask no delegate, which is the common case.
    private let policyProfile: TLSProfile
    private let state: Lock<State>
    /// Records the refused peers of all profiles.
    private let refusalHandler: TLSProfile.RefusalHandler
    private let refusedPeers: RefusedPeers

    /// The last refused peer of each origin. A class of its own, because the profiles refer to it. A reference
    /// to the selector, which owns the profiles, would be a reference cycle.
    private final class RefusedPeers: Sendable {
        private struct Records: Sendable {
            var peers: [Endpoint: PeerTrust] = [:]
            /// The keys of `peers`, in the order of their first refusal.
            var order: [Endpoint] = []
        }

        private let records = Lock(Records())

        /// Records the refused peer of an origin. Beyond `refusalLimit` origins, drops the origin that was recorded first.
        func record(_ peer: PeerTrust, host: String, port: UInt16) {
            let endpoint = Endpoint(host: host, port: port)
            records.withLock { records in
                if records.peers.updateValue(peer, forKey: endpoint) == nil { records.order.append(endpoint) }
                if records.order.count > TLSProfileSelector.refusalLimit {
                    records.peers[records.order.removeFirst()] = nil
                }
            }
        }

        /// Returns the peer of this origin that was refused last; nil for none.
        func peer(host: String, port: UInt16) -> PeerTrust? {
            records.withLock { $0.peers[Endpoint(host: host, port: port)] }
        }
    }

    /// Creates the selector of a session.
    ///
    /// - Parameters:
    ///   - configuration: The TLS settings of the session's connections, with the identity for tasks that choose none.
    ///   - evaluator: Evaluates peers when no delegate is asked, or when the delegate performs the default handling.
    ///   - revocation: Obtains revocation answers.
    init(
        _ configuration: TLSConfiguration, evaluator: TrustEvaluator = .default,
        revocation: RevocationSupport = .none
    ) {
        self.configuration = configuration
        self.evaluator = evaluator
        self.revocation = revocation
        let refusedPeers = RefusedPeers()
        // The second argument is the reason of the refusal, which is not recorded: the error of the exchange contains it.
        let refusalHandler: TLSProfile.RefusalHandler = { peer, _, host, port in
            refusedPeers.record(peer, host: host, port: port)
        }
        let key = ProfileKey(party: .policy, clientIdentity: .configured)
        let policyProfile = TLSProfile(
            configuration, trust: evaluator, revocation: revocation, refusalHandler: refusalHandler,
            label: key)
        self.policyProfile = policyProfile
        self.refusalHandler = refusalHandler
        self.refusedPeers = refusedPeers
        state = Lock(State(profiles: [key: policyProfile]))
    }

    /// Creates the object that passes the trust and identity questions of connections to the delegates of a task. Called once for
    /// each task.
    func verifier(asking challenger: any ServerTrustChallenger) -> TaskPeerVerifier {
        TaskPeerVerifier(asking: challenger, of: self)
    }

    /// The name of the roots that are used when no delegate is asked.
    var rootsName: String { policyProfile.rootsName }

    /// Returns the profile for an exchange with this origin.
    ///
    /// - Parameters:
    ///   - host: The origin's host.
    ///   - port: The origin's port.
    ///   - verifier: The verifier of the task; nil to ask no delegate.
    ///   - mayIdentify: Whether a client identity may be used; false after a redirect to another origin (U-10.5). The exchange
    ///     then uses neither the configured identity nor the identity that the task chose earlier. It also uses no connection
    ///     on which one of these identities was used.
    func profile(
        host: String, port: UInt16, for verifier: TaskPeerVerifier?, mayIdentify: Bool = true
    ) -> TLSProfile {
        guard let verifier else {
            // If no identity is configured, `policyProfile` has none either.
            return mayIdentify || configuration.identity == nil
                ? policyProfile : profile(ProfileKey(party: .policy, clientIdentity: .noneCrossOrigin))
        }
        guard mayIdentify else {
            return profile(ProfileKey(party: verifier.party, clientIdentity: .noneCrossOrigin))
        }
        let choice = verifier.identityChoice(host: host.lowercased(), port: port)
        return profile(
            ProfileKey(party: verifier.party, clientIdentity: choice.map { .chosen($0) } ?? .configured))
    }

    /// Returns the profile to which a connection that was opened under `profile` belongs once this party has accepted its peer.
    /// Nil when that is `profile` itself.
    func profile(like profile: TLSProfile, for party: TrustParty) -> TLSProfile? {
        guard let key = profile.label as? ProfileKey, key.party != party else { return nil }
        return self.profile(ProfileKey(party: party, clientIdentity: key.clientIdentity))
    }

    // MARK: refused peers

    /// Returns the `userInfo` of the `URLError` for `error`: the trust of a refused peer, under
    /// `NSURLErrorFailingURLPeerTrustErrorKey` (U-11.19).
    func userInfo(for error: TransportError, of verifier: TaskPeerVerifier?) -> [String: Any] {
        guard case .tls(let host, let port, .untrusted) = error else { return [:] }
        // If a delegate was asked, the trust of its challenge; otherwise the trust of the peer that the policy has refused.
        guard
            let refusedTrust = verifier?.trust(host: host, port: port)
                ?? lastRefusedTrust(host: host, port: port)
        else { return [:] }
        return [NSURLErrorFailingURLPeerTrustErrorKey: refusedTrust]
    }

    /// Returns the trust of the last refused peer of this origin; nil for none.
    private func lastRefusedTrust(host: String, port: UInt16) -> SecTrust? {
        refusedPeers.peer(host: host, port: port).map { SecTrust($0, revocation: revocation) }
    }

    /// Returns the profile with this key; creates it if there is none.
    private func profile(_ key: ProfileKey) -> TLSProfile {
        // The closure returns the dropped profile too, so that the profile is released outside the lock: its evaluator may own
        // objects of the program, whose `deinit` must not run under the lock.
        let (profile, _) = state.withLock {
            [configuration, evaluator, revocation, refusalHandler] state -> (TLSProfile, TLSProfile?) in
            if let profile = state.profiles[key] { return (profile, nil) }
            var dropped: TLSProfile?
            if key.isLimitedInNumber {
                state.limitedKeys.append(key)
                if state.limitedKeys.count > Self.profileLimit {
                    dropped = state.profiles.removeValue(forKey: state.limitedKeys.removeFirst())
                }
            }
            var settings = configuration
            // What a connection asks the task for which it is opened: about the server, and about the client identity unless the
            // task has chosen one already.
            var questions = PeerQuestions.trustAndIdentity
            switch key.clientIdentity {
            case .configured: break
            case .noneCrossOrigin: settings.identity = nil
            case .chosen(.identity(let identity)):
                settings.identity = identity
                questions = .trust
            case .chosen(.noIdentity):
                settings.identity = nil
                questions = .trust
            }
            // With `policy` the evaluator and the configuration decide.
            if key.party == .policy { questions = .none }
            // Profiles with equal settings share the certificates and keys loaded for them, which do not depend on the party.
            let profile: TLSProfile
            if let similar = state.profiles.values.first(where: { $0.configuration == settings }) {
                profile = TLSProfile(
                    sharing: similar, questions: questions, refusalHandler: refusalHandler, label: key)
            } else {
                profile = TLSProfile(
                    settings, trust: evaluator, revocation: revocation, questions: questions,
                    refusalHandler: refusalHandler, label: key)
            }
            state.profiles[key] = profile
            return (profile, dropped)
        }
        return profile
    }
}

extension TLSProfile {
    /// The party that the profile's connections belong to.
    var party: TrustParty { (label as? TLSProfileSelector.ProfileKey)?.party ?? .policy }
}
