// SPDX-License-Identifier: MIT

import Foundation
import LupineTLS
import LupineTransport

/// Decides under which TLS profile an exchange of a session travels: who judges its peer, and who we are there.
///
/// Exchanges of tasks whose delegates want no challenges share one profile. There nobody is asked: chains are judged on the
/// loop, verdicts are kept, sessions are resumed. The others share another, under which every new connection asks the task
/// that it is opened for (I-12.14, I-12.15). So a connection that a delegate has accepted against all evaluation is never lent
/// to a task that has none. Where a task has chosen an identity, its further exchanges have a profile of that identity
/// (U-11.20). One per session; any thread.
final class TrustBridge: Sendable {
    private enum Kind: Hashable, Sendable {
        /// Nobody is asked; without the configured identity where the hop has left the task's origin (U-10.5).
        case unasked(isForeign: Bool)
        /// The task is asked about both.
        case asked(isForeign: Bool)
        /// The task is asked about trust, and has said before who it is.
        case chosen(TaskTrust.Choice)
    }

    private struct Endpoint: Hashable, Sendable {
        let host: String
        let port: UInt16
    }

    private struct State: Sendable {
        var profiles: [Kind: TLSProfile]
        /// Identities in the order in which they were first chosen.
        var chosen: [Kind] = []
    }

    /// How many identities keep their connections to share; one more makes the first forgotten.
    static let choiceLimit = 32
    /// For how many origins the refused peer is kept.
    static let refusalLimit = 32

    private let configuration: TLSConfiguration
    private let evaluator: TrustEvaluator
    private let revocation: RevocationSupport
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
        let plain = TLSProfile(
            configuration, trust: evaluator, revocation: revocation, refusalWitness: witness)
        self.plain = plain
        self.witness = witness
        self.refusals = refusals
        state = Lock(State(profiles: [.unasked(isForeign: false): plain]))
    }

    /// What a task brings along whose delegate wants challenges. One per task; it goes into `ExchangeOptions.asker`.
    func trust(asking asker: any ServerTrustAsker) -> TaskTrust {
        TaskTrust(asking: asker, revocation: revocation)
    }

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
            return mayIdentify || configuration.identity == nil ? plain : profile(.unasked(isForeign: true))
        }
        guard mayIdentify else { return profile(.asked(isForeign: true)) }
        return profile(
            trust.choice(host: host.lowercased(), port: port).map { .chosen($0) } ?? .asked(isForeign: false))
    }

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
        state.withLock { [configuration, evaluator, revocation, witness] state in
            if let known = state.profiles[kind] { return known }
            if case .chosen = kind {
                state.chosen.append(kind)
                if state.chosen.count > Self.choiceLimit {
                    state.profiles[state.chosen.removeFirst()] = nil
                }
            }
            var own = configuration
            let questions: PeerQuestions
            switch kind {
            case .unasked(let isForeign):
                if isForeign { own.identity = nil }
                questions = .none
            case .asked(let isForeign):
                if isForeign { own.identity = nil }
                questions = .trustAndIdentity
            case .chosen(.identity(let identity)):
                own.identity = identity
                questions = .trust
            case .chosen(.nobody):
                own.identity = nil
                questions = .trust
            }
            // What is loaded for a configuration does not depend on who is asked.
            let twin = state.profiles.values.first { $0.configuration == own }
            let profile =
                twin.map { TLSProfile(sharing: $0, questions: questions, refusalWitness: witness) }
                ?? TLSProfile(
                    own, trust: evaluator, revocation: revocation, questions: questions,
                    refusalWitness: witness)
            state.profiles[kind] = profile
            return profile
        }
    }
}
