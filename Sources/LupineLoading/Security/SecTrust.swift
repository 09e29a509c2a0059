// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTLS
internal import LupineTransport

/// A peer's certificates, and everything that their evaluation uses: policies, anchors, date, revocation answers.
///
/// Creating and changing one evaluates nothing (I-12.1); call `SecTrustEvaluateWithError`, as often as needed. It may be used on
/// any thread, also concurrently, and outlives the connection that it came from: an evaluation uses the settings at its start.
/// Equal only to itself.
public final class SecTrust: Sendable {
    /// The settings that the program can change.
    struct Settings: Sendable {
        /// Leaf first.
        var certificates: [SecCertificate]
        var policies: [SecPolicy]
        /// The anchors that the program has set; nil for none.
        var anchors: [SecCertificate]?
        /// Whether no other anchors are used.
        var hasOnlyTheseAnchors = false
        /// Nil for the time of the evaluation.
        var verifyDate: Date?
        var mayFetch = true
        /// OCSP responses for the leaf, in order of preference.
        var responses: [[UInt8]] = []
    }

    /// The inputs of its creator, apart from the certificates.
    struct Context: Sendable {
        /// The roots of the session; nil for those of the system.
        var roots: TrustStore?
        /// Intermediate certificates for servers that do not send theirs.
        var intermediates: [Certificate] = []
        /// How revocation answers are obtained.
        var revocation: RevocationSupport?
    }

    /// The result of an evaluation.
    struct Verdict: Sendable {
        let failure: TrustFailure?
        let result: SecTrustResultType
        /// The subject of the leaf, for messages.
        let subject: String
    }

    private struct State: Sendable {
        var settings: Settings
        /// The anchors as a store; created when first needed after they were set.
        var store: TrustStore?
        var chain: [SecCertificate]?
        var result = SecTrustResultType.invalid
        /// Whether the chain has passed its last evaluation under a policy about the chain, not about revocation alone.
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

    /// Changes the settings and discards earlier results. `keepsPath`: neither anchors nor date change, so the chain stays valid;
    /// policies and OCSP responses do not affect it.
    func change(keepsPath: Bool = false, _ body: @Sendable (inout Settings) -> Void) {
        state.withLock { state in
            body(&state.settings)
            if !keepsPath {
                state.store = nil
                state.chain = nil
                state.hasPassed = false
            }
            state.result = .invalid
            state.version += 1
        }
    }

    /// The result of the last evaluation, if nothing was changed since.
    var result: SecTrustResultType { state.withLock { $0.result } }

    /// Whether the chain has passed an evaluation, or a pin check of the library's evaluators. Reading the chain is no check,
    /// because the reader's conclusion is unknown; neither is a failed evaluation, or one under revocation policies alone.
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

    /// Evaluates the trust. Blocks while revocation answers are fetched, which happens only if a policy requires them, fetching
    /// is allowed, and the thread is not a loop's.
    func evaluate(mayFetch: Bool = true) -> Verdict {
        let (settings, version) = state.withLock { ($0.settings, $0.version) }
        let policies = settings.policies.map(\.policy)
        // The shared support starts loops of its own, so it is created only for a policy about revocation.
        let asks = policies.contains { $0.isRevocation }
        let support = context.revocation ?? (asks ? .shared : .none)
        let time = settings.verifyDate.map { UnixTime(seconds: Int64(clamping: $0)) } ?? .now
        let report = peer(settings, version).report(
            under: policies, responses: settings.responses, at: time,
            revocation: support.access(mayFetch: mayFetch && settings.mayFetch))
        let chain = report.chain.map(SecCertificate.init)
        let isOwnAnchor = chain.last.map { settings.anchors?.contains($0) ?? false } ?? false
        let result = report.failure?.resultType ?? (isOwnAnchor ? .proceed : .unspecified)
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

    private func peer(_ settings: Settings, _ version: Int) -> PeerTrust {
        PeerTrust(
            certificates: settings.certificates.map(\.certificate), stapledResponse: nil, host: "",
            store: store(settings, version), intermediates: context.intermediates)
    }

    /// The anchors to use (I-12.2, I-12.3).
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
    /// Whether the policy concerns revocation, and not the chain itself.
    fileprivate var isRevocation: Bool { if case .revocation = self { true } else { false } }
}

extension Int64 {
    /// The second that a date is in, clamped to the range of the type.
    fileprivate init(clamping date: Date) {
        let seconds = date.timeIntervalSince1970.rounded(.down)
        self = Int64(exactly: seconds) ?? (seconds < 0 ? .min : .max)
    }
}
