// SPDX-License-Identifier: MIT

package import LupineTLS

/// The TLS configuration and trust of connections, and what they share: the TLS half of a pool key.
///
/// Profiles are compared by identity: a connection made under one never serves another, and sessions never leave theirs.
/// `TLSProfiles` interns profiles, so that equal settings share connections. Any thread may use it.
package final class TLSProfile: Sendable {
    /// Chooses the client certificate for a server that requests one. Called on a loop; `reply` is called once, from any thread,
    /// with nil for none. A reply that is dropped counts as nil.
    package typealias IdentitySource =
        @Sendable (
            _ request: TLSIdentityRequest, _ host: String, _ port: UInt16,
            _ reply: @escaping @Sendable (TLSIdentity?) -> Void
        ) -> Void

    /// Called with each rejected peer and the reason: on a loop, before the waiting exchange is told.
    package typealias RefusalHandler =
        @Sendable (PeerTrust, TrustFailure, _ host: String, _ port: UInt16) -> Void

    /// The TLS configuration.
    package let configuration: TLSConfiguration
    /// Evaluates the trust of peers.
    package let trust: TrustEvaluator
    /// The means for checking revocation.
    let revocation: RevocationSupport
    let identitySource: IdentitySource?
    /// The questions to the exchange that a connection is opened for.
    package let questions: PeerQuestions
    let refusalHandler: RefusalHandler?
    /// An identifier for the layer above.
    package let label: (any Sendable)?
    let settings: TLSSettings
    private let sessions = Lock(TLSSessionCache<SessionPeer>())

    /// A new profile. Nothing is loaded until the first connection is opened.
    package convenience init(
        _ configuration: TLSConfiguration, trust: TrustEvaluator, revocation: RevocationSupport = .none,
        identitySource: IdentitySource? = nil, questions: PeerQuestions = .none,
        refusalHandler: RefusalHandler? = nil, label: (any Sendable)? = nil
    ) {
        self.init(
            TLSSettings(configuration), trust: trust, revocation: revocation, identitySource: identitySource,
            questions: questions, refusalHandler: refusalHandler, label: label)
    }

    /// A new profile that shares the configuration, which is loaded once, and the evaluator of `other`.
    package convenience init(
        sharing other: TLSProfile, questions: PeerQuestions, refusalHandler: RefusalHandler? = nil,
        label: (any Sendable)? = nil
    ) {
        self.init(
            other.settings, trust: other.trust, revocation: other.revocation, identitySource: nil,
            questions: questions, refusalHandler: refusalHandler, label: label)
    }

    init(
        _ settings: TLSSettings, trust: TrustEvaluator, revocation: RevocationSupport,
        identitySource: IdentitySource?, questions: PeerQuestions = .none,
        refusalHandler: RefusalHandler? = nil, label: (any Sendable)? = nil
    ) {
        configuration = settings.configuration
        self.settings = settings
        self.trust = trust
        self.revocation = revocation
        self.identitySource = identitySource
        self.questions = questions
        self.refusalHandler = refusalHandler
        self.label = label
    }

    /// Whether peers are certainly evaluated with the configured roots, so that these have to be loaded before a connection is
    /// opened. If the exchange is asked, its answer may not need them.
    var needsRoots: Bool { questions == .none && trust.needsRoots }

    /// The name of the roots (`TrustRoots.name`): as they were loaded or, before that, as their files are now.
    package var rootsName: String {
        settings.context(withRoots: false)?.store.name ?? configuration.roots.name
    }

    /// The context for connections, once it is loaded.
    var context: TLSClientContext? { settings.context(withRoots: needsRoots) }

    /// Loads the context for connections unless it is loaded, and calls `done` at once or on a worker.
    func prepare(_ done: @escaping @Sendable (TLSSettings.Answer) -> Void) {
        settings.make(withRoots: needsRoots, done)
    }

    /// Returns a session to resume a connection to `peer`; removes it if it may be offered only once.
    func takeSession(for peer: SessionPeer) -> TLSSession? {
        guard configuration.resumesSessions else { return nil }
        return sessions.withLock { $0.take(for: peer, now: .now) }
    }

    /// Forgets the sessions of connections to `peer`.
    func forgetSessions(for peer: SessionPeer) {
        sessions.withLock { $0.removeAll(for: peer) }
    }

    /// Stores a session of a connection to `peer`.
    func keep(_ session: TLSSession, for peer: SessionPeer) {
        sessions.withLock { $0.put(session, for: peer) }
    }
}

extension TLSProfile: Hashable {
    package static func == (left: TLSProfile, right: TLSProfile) -> Bool { left === right }
    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
