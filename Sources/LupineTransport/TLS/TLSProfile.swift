// SPDX-License-Identifier: MIT

package import LupineTLS

/// The TLS configuration and the trust evaluator of connections, and the sessions that they share: the TLS half of a pool key.
///
/// Profiles are compared by identity. The pool never leases a connection under another profile, and a session is only resumed
/// under its own profile. `TLSProfiles` interns profiles, so that equal settings share connections. Any thread may use a profile.
package final class TLSProfile: Sendable {
    /// Chooses the client certificate for a server that requests one. Called on a loop; `reply` is called once, from any thread,
    /// with nil for none. A reply that is dropped counts as nil.
    package typealias IdentitySource =
        @Sendable (
            _ request: TLSIdentityRequest, _ host: String, _ port: UInt16,
            _ reply: @escaping @Sendable (TLSIdentity?) -> Void
        ) -> Void

    /// Called with each rejected peer and the reason, on a loop, before the waiting exchange ends.
    package typealias RefusalHandler =
        @Sendable (PeerTrust, TrustFailure, _ host: String, _ port: UInt16) -> Void

    /// The TLS configuration.
    package let configuration: TLSConfiguration
    /// Evaluates the trust of peers.
    package let trust: TrustEvaluator
    /// The means for checking revocation.
    let revocation: RevocationSupport
    /// Chooses the client certificate; nil to present the identity of the configuration.
    let identitySource: IdentitySource?
    /// The questions that a connection asks the exchange that it is opened for.
    package let questions: PeerQuestions
    /// Called with each rejected peer; nil if the layer above does not need to know.
    let refusalHandler: RefusalHandler?
    /// A value of the layer above, by which it recognises the profile.
    package let label: (any Sendable)?
    /// The configuration with its OpenSSL context; profiles with equal configurations share it.
    let settings: TLSSettings
    private let sessions = Lock(TLSSessionCache<SessionPeer>())

    /// Creates a profile. Files are loaded when the first connection is opened.
    package convenience init(
        _ configuration: TLSConfiguration, trust: TrustEvaluator, revocation: RevocationSupport = .none,
        identitySource: IdentitySource? = nil, questions: PeerQuestions = .none,
        refusalHandler: RefusalHandler? = nil, label: (any Sendable)? = nil
    ) {
        self.init(
            TLSSettings(configuration), trust: trust, revocation: revocation, identitySource: identitySource,
            questions: questions, refusalHandler: refusalHandler, label: label)
    }

    /// Creates a profile that shares the evaluator and the configuration of `other`, whose files are loaded once for both.
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

    /// Whether peers are certainly evaluated with the configured roots, which must then be loaded before a connection is opened.
    /// False if the profile has questions: the answer of the exchange may not need the roots.
    var needsRoots: Bool { questions == .none && trust.needsRoots }

    /// The name of the loaded roots (`TrustRoots.name`) or, before they are loaded, the name for their files as they are now.
    package var rootsName: String {
        settings.context(withRoots: false)?.store.name ?? configuration.roots.name
    }

    /// The OpenSSL context for connections; nil until it is loaded.
    var context: TLSClientContext? { settings.context(withRoots: needsRoots) }

    /// Loads the context for connections unless it is loaded. Calls `done` before it returns, or later on a worker thread.
    func prepare(_ done: @escaping @Sendable (TLSSettings.Answer) -> Void) {
        settings.make(withRoots: needsRoots, done)
    }

    /// Returns a session to resume a connection to `peer`; removes it if it may be offered only once.
    func takeSession(for peer: SessionPeer) -> TLSSession? {
        guard configuration.resumesSessions else { return nil }
        return sessions.withLock { $0.take(for: peer, now: .now) }
    }

    /// Removes the sessions of connections to `peer`.
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
