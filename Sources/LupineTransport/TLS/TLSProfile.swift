// SPDX-License-Identifier: MIT

package import LupineTLS

/// How connections are secured and whom they trust: the TLS half of a pool key, and what such connections share.
///
/// Two profiles are equal only when they are the same object: a connection made under one never serves another, and
/// sessions never leave theirs. Whoever wants connections shared between equal settings interns profiles (`TLSProfiles`).
/// Any thread.
package final class TLSProfile: Sendable {
    /// Asks the layer above who we are to a server that wants to know. Called on a loop; `reply` once, from any thread,
    /// with nil for nobody. What is not answered counts as nobody.
    package typealias IdentitySource =
        @Sendable (
            _ request: TLSIdentityRequest, _ host: String, _ port: UInt16,
            _ reply: @escaping @Sendable (TLSIdentity?) -> Void
        ) -> Void

    /// Hears of peers that were refused, and why: on a loop, before whoever waits for the connection does.
    package typealias RefusalWitness =
        @Sendable (PeerTrust, TrustFailure, _ host: String, _ port: UInt16) -> Void

    /// How connections are secured.
    package let configuration: TLSConfiguration
    /// Who is trusted.
    package let trust: TrustEvaluator
    /// What judging a chain may use beyond the chain.
    let revocation: RevocationSupport
    let identitySource: IdentitySource?
    /// What is asked of the exchange that a connection is opened for.
    package let questions: PeerQuestions
    let refusalWitness: RefusalWitness?
    /// What the layer above knows it by.
    package let label: (any Sendable)?
    let settings: TLSSettings
    private let sessions = Lock(TLSSessionCache<SessionPeer>())

    /// A profile of its own. Nothing is loaded until the first connection is opened.
    package convenience init(
        _ configuration: TLSConfiguration, trust: TrustEvaluator, revocation: RevocationSupport = .none,
        identitySource: IdentitySource? = nil, questions: PeerQuestions = .none,
        refusalWitness: RefusalWitness? = nil, label: (any Sendable)? = nil
    ) {
        self.init(
            TLSSettings(configuration), trust: trust, revocation: revocation, identitySource: identitySource,
            questions: questions, refusalWitness: refusalWitness, label: label)
    }

    /// Another profile with the same configuration, loaded once for both, and the same evaluator.
    package convenience init(
        sharing other: TLSProfile, questions: PeerQuestions, refusalWitness: RefusalWitness? = nil,
        label: (any Sendable)? = nil
    ) {
        self.init(
            other.settings, trust: other.trust, revocation: other.revocation, identitySource: nil,
            questions: questions, refusalWitness: refusalWitness, label: label)
    }

    init(
        _ settings: TLSSettings, trust: TrustEvaluator, revocation: RevocationSupport,
        identitySource: IdentitySource?, questions: PeerQuestions = .none,
        refusalWitness: RefusalWitness? = nil, label: (any Sendable)? = nil
    ) {
        configuration = settings.configuration
        self.settings = settings
        self.trust = trust
        self.revocation = revocation
        self.identitySource = identitySource
        self.questions = questions
        self.refusalWitness = refusalWitness
        self.label = label
    }

    /// Whether peers are certainly judged by the configured roots, so that these are to be there before a connection is opened. Who
    /// is asked may not want them.
    var asksForRoots: Bool { questions == .none && trust.asksForRoots }

    /// The name of the roots (`TrustRoots.name`): as they were read; before that, as their files are now.
    package var rootsName: String {
        settings.context(withRoots: false)?.store.name ?? configuration.roots.name
    }

    /// What connections are made with, once that is there.
    var context: TLSClientContext? { settings.context(withRoots: asksForRoots) }

    /// Makes what connections are made with, where it is not there yet, and calls `done` at once or on a worker.
    func prepare(_ done: @escaping @Sendable (TLSSettings.Answer) -> Void) {
        settings.make(withRoots: asksForRoots, done)
    }

    /// What to resume a connection to `peer` with, taken out where it may be offered only once.
    func takeSession(for peer: SessionPeer) -> TLSSession? {
        guard configuration.resumesSessions else { return nil }
        return sessions.withLock { $0.take(for: peer, now: .now) }
    }

    /// Forgets what resumes connections to `peer`.
    func forgetSessions(for peer: SessionPeer) {
        sessions.withLock { $0.removeAll(for: peer) }
    }

    /// Keeps what a connection to `peer` brought.
    func keep(_ session: TLSSession, for peer: SessionPeer) {
        sessions.withLock { $0.put(session, for: peer) }
    }
}

extension TLSProfile: Hashable {
    package static func == (left: TLSProfile, right: TLSProfile) -> Bool { left === right }
    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
