// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTLS
internal import LupineTransport

/// A peer's certificates, and everything that their evaluation uses: policies, anchors, date, revocation answers.
///
/// Creating or changing a trust evaluates nothing (I-12.1); call `SecTrustEvaluateWithError`, as often as needed. A trust may be
/// used on any thread, also concurrently: an evaluation uses the settings at its start. It remains usable after its connection is
/// closed. A trust is equal only to itself.
public final class SecTrust: Sendable {
    /// The settings that the program can change.
    struct Settings: Sendable {
        /// The peer's certificates, leaf first.
        var certificates: [SecCertificate]
        var policies: [SecPolicy]
        /// The anchors that the program has set; nil for none.
        var anchors: [SecCertificate]?
        /// Whether `anchors` alone are used, without those of `Context.roots`.
        var hasOnlyTheseAnchors = false
        /// The date to evaluate for; nil for the time of the evaluation.
        var verifyDate: Date?
        /// Whether revocation answers may be fetched.
        var mayFetch = true
        /// OCSP responses for the leaf, in order of preference.
        var responses: [[UInt8]] = []
    }

    /// The inputs of an evaluation that the program cannot change.
    struct Context: Sendable {
        /// The roots of the session; nil for those of the system.
        var roots: TrustStore?
        /// Intermediate certificates for servers that do not send theirs.
        var intermediates: [Certificate] = []
        /// Obtains revocation answers; nil for the shared support.
        var revocation: RevocationSupport?
    }

    /// The result of an evaluation.
    struct Verdict: Sendable {
        /// The reason why the trust does not satisfy its policies; nil if it does.
        let failure: TrustFailure?
        let result: SecTrustResultType
        /// The subject of the leaf, for messages.
        let subject: String
    }

    private struct State: Sendable {
        var settings: Settings
        /// The anchors as a store; nil until an evaluation needs them.
        var store: TrustStore?
        /// The chain; nil until it is needed.
        var chain: [SecCertificate]?
        var result = SecTrustResultType.invalid
        /// Whether the chain has passed its last evaluation, apart from evaluations under revocation policies alone.
        var hasPassed = false
        /// Whether the chain contains a certificate or key that one of the library's evaluators has pinned.
        var isPinned = false
        /// The number of changes, so that an evaluation detects whether its settings are still current.
        var version = 0
    }

    private let context: Context
    private let state: Lock<State>

    /// Creates a trust of these certificates, leaf first.
    init(
        certificates: [SecCertificate], policies: [SecPolicy], context: Context = Context(),
        responses: [[UInt8]] = []
    ) {
        self.context = context
        state = Lock(
            State(
                settings: Settings(
                    certificates: certificates, policies: policies, responses: responses)))
    }

    /// Creates the trust of a connection's peer (I-12.12): the server policy for its host, the session's roots, and the
    /// certificates and OCSP response that the peer has sent.
    convenience init(_ peer: PeerTrust, revocation: RevocationSupport) {
        self.init(
            certificates: peer.certificates.map(SecCertificate.init),
            policies: [SecPolicy(.server(host: peer.host))],
            context: Context(
                roots: peer.store, intermediates: peer.intermediates, revocation: revocation),
            responses: peer.stapledResponse.map { [$0] } ?? [])
    }

    /// The current settings.
    var settings: Settings { state.withLock { $0.settings } }

    /// Changes the settings and discards earlier results.
    ///
    /// - Parameters:
    ///   - keepsChain: Whether the chain stays valid, because `body` changes neither anchors nor date. Policies and OCSP
    ///     responses do not affect the chain.
    ///   - body: Changes the settings.
    func change(keepsChain: Bool = false, _ body: @Sendable (inout Settings) -> Void) {
        state.withLock { state in
            body(&state.settings)
            if !keepsChain {
                state.store = nil
                state.chain = nil
                state.hasPassed = false
            }
            state.result = .invalid
            state.version += 1
        }
    }

    /// The result of the last evaluation; `invalid` if there was none since the last change.
    var result: SecTrustResultType { state.withLock { $0.result } }

    /// Whether the chain has passed an evaluation, or a pin check of the library's evaluators. Reading the chain is no check,
    /// because the trust does not learn the program's conclusion; neither is a failed evaluation, or one under revocation
    /// policies alone.
    var wasChecked: Bool { state.withLock { $0.hasPassed || $0.isPinned } }

    /// Records that the chain contains a pinned certificate or key.
    package func notePinned() { state.withLock { $0.isPinned = true } }

    /// The leaf and the issuers that could be linked (I-12.5); built when first read.
    var chain: [SecCertificate] {
        let (settings, known, version) = state.withLock { ($0.settings, $0.chain, $0.version) }
        if let known { return known }
        let chain = peer(settings, version).chain().map(SecCertificate.init)
        state.withLock { if $0.version == version { $0.chain = chain } }
        return chain
    }

    /// The leaf certificate.
    var leaf: SecCertificate? { state.withLock { $0.settings.certificates.first } }

    /// Evaluates the trust. Blocks while it fetches revocation answers, which it does only if a policy requires them, fetching is
    /// allowed, and the thread is not a loop's.
    func evaluate(mayFetch: Bool = true) -> Verdict {
        let (settings, version) = state.withLock { ($0.settings, $0.version) }
        let policies = settings.policies.map(\.policy)
        // `.shared` starts event loops when it is first used, so it is used only if a policy is about revocation.
        let checksRevocation = policies.contains { $0.isRevocation }
        let support = context.revocation ?? (checksRevocation ? .shared : .none)
        let time = settings.verifyDate.map { UnixTime(seconds: Int64(clamping: $0)) } ?? .now
        let report = peer(settings, version).report(
            under: policies, responses: settings.responses, at: time,
            revocation: support.access(mayFetch: mayFetch && settings.mayFetch))
        let chain = report.chain.map(SecCertificate.init)
        var endsAtOwnAnchor = false
        if let root = chain.last, let anchors = settings.anchors { endsAtOwnAnchor = anchors.contains(root) }
        let result = report.failure?.resultType ?? (endsAtOwnAnchor ? .proceed : .unspecified)
        state.withLock { state in
            guard state.version == version else { return }
            state.result = result
            state.chain = chain
            if report.failure != nil {
                state.hasPassed = false
            } else if !policies.allSatisfy({ $0.isRevocation }) {
                state.hasPassed = true
            }
        }
        let subject = settings.certificates.first?.certificate.subject.description ?? ""
        return Verdict(failure: report.failure, result: result, subject: subject)
    }

    /// Returns the certificates with the anchors and intermediates to evaluate them with.
    private func peer(_ settings: Settings, _ version: Int) -> PeerTrust {
        PeerTrust(
            certificates: settings.certificates.map(\.certificate), stapledResponse: nil, host: "",
            store: store(settings, version), intermediates: context.intermediates)
    }

    /// Returns the anchors to use (I-12.2, I-12.3).
    private func store(_ settings: Settings, _ version: Int) -> TrustStore {
        if let known = state.withLock({ $0.version == version ? $0.store : nil }) { return known }
        let own = settings.anchors?.map(\.certificate) ?? []
        let store: TrustStore
        if settings.hasOnlyTheseAnchors {
            store = TrustStore(anchors: own)
        } else {
            let roots = context.roots ?? .system
            store = own.isEmpty ? roots : roots.adding(own)
        }
        state.withLock { if $0.version == version { $0.store = store } }
        return store
    }
}

extension SecTrust: Hashable {
    public static func == (left: SecTrust, right: SecTrust) -> Bool { left === right }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension TrustPolicy {
    /// Whether the policy is about revocation, and not about the chain itself.
    fileprivate var isRevocation: Bool { if case .revocation = self { true } else { false } }
}

extension Int64 {
    /// Converts a date to whole seconds since 1970, rounded down and clamped to the range of the type.
    fileprivate init(clamping date: Date) {
        let seconds = date.timeIntervalSince1970.rounded(.down)
        self = Int64(exactly: seconds) ?? (seconds < 0 ? .min : .max)
    }
}
