// SPDX-License-Identifier: MIT

package import LupineTLS

/// The TLS configuration and the trust evaluator of connections, and the sessions that they share: the TLS half of a pool key
/// (`Origin`).
///
/// Two profiles are equal only if they are the same object. The pool never leases a connection under another profile, and
/// connections only resume sessions of their own profile. `TLSProfiles` returns the same profile for equal settings, so that
/// requests with equal settings share connections. Any thread may use a profile.
package final class TLSProfile: Sendable {
    /// Chooses the client certificate for a server that requests one. The transport calls the closure on a loop. The
    /// closure must call `reply` once, from any thread, with nil for no certificate. If it releases `reply` without a call, no
    /// certificate is presented.
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
    /// Chooses the client certificate; nil to present the one of the configuration.
    let identitySource: IdentitySource?
    /// What the handshake of a new connection asks the verifier of the exchange that the connection is opened for.
    package let questions: PeerQuestions
    /// Called with each rejected peer; nil if the layer above does not need this.
    let refusalHandler: RefusalHandler?
    /// A value by which the layer above recognises the profile; the transport ignores it.
    package let label: (any Sendable)?
    /// The configuration with its OpenSSL context; profiles with equal configurations share it.
    let settings: TLSSettings
    /// The sessions that connections under this profile have received.
    private let sessions = Lock(TLSSessionCache<SessionPeer>())

    /// Creates a profile. The files that the configuration names are loaded for the first connection.
    package convenience init(
        _ configuration: TLSConfiguration, trust: TrustEvaluator, revocation: RevocationSupport = .none,
        identitySource: IdentitySource? = nil, questions: PeerQuestions = .none,
        refusalHandler: RefusalHandler? = nil, label: (any Sendable)? = nil
    ) {
        self.init(
            TLSSettings(configuration), trust: trust, revocation: revocation, identitySource: identitySource,
            questions: questions, refusalHandler: refusalHandler, label: label)
    }

    /// Creates a profile that shares the evaluator and the configuration of `other`. The configuration's files are loaded once
    /// for the two profiles.
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
    /// False if the handshake asks the exchange's verifier, whose answer may make the roots unnecessary.
    var needsRoots: Bool { questions == .none && trust.needsRoots }

    /// The name of the loaded roots (`TrustRoots.name`). Before they are loaded, the name that the present contents of their
    /// files would give.
    package var rootsName: String {
        // `withRoots: false` returns the context even if its roots are not read yet.
        settings.context(withRoots: false)?.store.name ?? configuration.roots.name
    }

    /// The OpenSSL context for connections; nil until it is loaded.
    var context: TLSClientContext? { settings.context(withRoots: needsRoots) }

    /// Loads the context for connections unless it is loaded. Calls `completion` before it returns, or later on a worker thread.
    func loadContext(_ completion: @escaping @Sendable (TLSSettings.Answer) -> Void) {
        settings.loadContext(withRoots: needsRoots, completion)
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
    func store(_ session: TLSSession, for peer: SessionPeer) {
        sessions.withLock { $0.put(session, for: peer) }
    }
}

extension TLSProfile: Hashable {
    package static func == (left: TLSProfile, right: TLSProfile) -> Bool { left === right }
    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
