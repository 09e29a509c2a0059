// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTLS
internal import LupineTransport

/// A peer's certificates, and everything that their evaluation uses: policies, anchors, date, revocation answers.
///
/// Creating or changing a trust evaluates nothing (I-12.1); `SecTrustEvaluateWithError` does, as often as it is called. A trust
/// may be used on several threads at the same time: an evaluation uses the settings at its start. A trust remains usable after
/// its connection is closed. It is equal only to itself.
public final class SecTrust: Sendable {
    /// The settings that the program can change.
    struct Settings: Sendable {
        /// The peer's certificates, leaf first.
        var certificates: [SecCertificate]
        var policies: [SecPolicy]
        /// The anchors that the program has set; nil for none.
        var anchors: [SecCertificate]?
        /// Whether an evaluation uses only `anchors`, without `Context.roots`.
        var usesOnlyAnchors = false
        /// The date for which an evaluation checks validity; nil for the time of the evaluation.
        var verifyDate: Date?
        /// Whether revocation answers may be fetched.
        var mayFetch = true
        /// OCSP responses for the leaf, in order of preference.
        var responses: [[UInt8]] = []
    }

    /// The inputs of an evaluation that the program cannot change.
    struct Context: Sendable {
        /// The roots of the session; nil for the system's roots.
        var roots: TrustStore?
        /// Intermediate certificates for servers that do not send theirs.
        var intermediates: [Certificate] = []
        /// Obtains revocation answers (OCSP responses and revocation lists); nil for `RevocationSupport.shared`.
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
        var anchorStore: TrustStore?
        /// The chain; nil until it is needed.
        var chain: [SecCertificate]?
        /// The result of the last evaluation; `invalid` if there was none since the last change.
        var result = SecTrustResultType.invalid
        /// Whether the chain has passed its last evaluation. An evaluation under revocation policies alone that succeeds does not
        /// change this, because it does not evaluate the chain.
        var hasPassed = false
        /// Whether one of the library's evaluators has found a pinned certificate or key in the chain.
        var hasPinMatch = false
        /// The number of changes of the settings. An evaluation compares it with the number at its start, to detect that its
        /// settings are out of date.
        var changeCount = 0
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

    /// Creates the trust of a connection's peer (I-12.12), with the server policy for its host, the session's roots, and the
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
    ///   - keepsChain: Whether the chain stays valid because `body` changes neither anchors nor date. Other settings do not
    ///     affect the chain.
    ///   - body: Changes the settings.
    func change(keepsChain: Bool = false, _ body: @Sendable (inout Settings) -> Void) {
        state.withLock { state in
            body(&state.settings)
            if !keepsChain {
                state.anchorStore = nil
                state.chain = nil
                state.hasPassed = false
            }
            state.result = .invalid
            state.changeCount += 1
        }
    }

    /// The result of the last evaluation; `invalid` if there was none since the last change.
    var result: SecTrustResultType { state.withLock { $0.result } }

    /// Whether the chain has passed an evaluation, or a comparison with pins by one of the library's evaluators.
    ///
    /// Stays false if the program only reads the chain: the trust does not know what the program concludes. A failed evaluation,
    /// or an evaluation under revocation policies alone, does not make the value true either.
    var wasChecked: Bool { state.withLock { $0.hasPassed || $0.hasPinMatch } }

    /// Records that an evaluator has found a pinned certificate or key in the chain.
    package func recordPinMatch() { state.withLock { $0.hasPinMatch = true } }

    /// The leaf, then the issuer of each certificate before, as far as they are found (I-12.5). Built when it is first read.
    var chain: [SecCertificate] {
        let (settings, cachedChain, changeCount) = state.withLock { ($0.settings, $0.chain, $0.changeCount) }
        if let cachedChain { return cachedChain }
        let chain = peerTrust(settings, changeCount).chain().map(SecCertificate.init)
        // After a change of the settings, the chain is out of date.
        state.withLock { if $0.changeCount == changeCount { $0.chain = chain } }
        return chain
    }

    /// The leaf certificate.
    var leaf: SecCertificate? { state.withLock { $0.settings.certificates.first } }

    /// Evaluates the trust. Blocks while it fetches revocation answers. It fetches them only if a policy requires them, if
    /// fetching is allowed, and if the thread does not belong to an event loop.
    func evaluate(mayFetch: Bool = true) -> Verdict {
        let (settings, changeCount) = state.withLock { ($0.settings, $0.changeCount) }
        let policies = settings.policies.map(\.policy)
        // The first use of `RevocationSupport.shared` starts event loops, so this uses it only for a policy about revocation.
        let checksRevocation = policies.contains { $0.isRevocation }
        let support = context.revocation ?? (checksRevocation ? .shared : .none)
        let time = settings.verifyDate.map { UnixTime(seconds: Int64(clamping: $0)) } ?? .now
        let report = peerTrust(settings, changeCount).report(
            under: policies, responses: settings.responses, at: time,
            revocation: support.access(mayFetch: mayFetch && settings.mayFetch))
        let chain = report.chain.map(SecCertificate.init)
        var endsAtSetAnchor = false
        if let root = chain.last, let anchors = settings.anchors { endsAtSetAnchor = anchors.contains(root) }
        let result = report.failure?.resultType ?? (endsAtSetAnchor ? .proceed : .unspecified)
        state.withLock { state in
            // After a change of the settings, the result is out of date.
            guard state.changeCount == changeCount else { return }
            state.result = result
            state.chain = chain
            // A success under revocation policies alone leaves `hasPassed` as it is, because the chain was not evaluated.
            if report.failure != nil {
                state.hasPassed = false
            } else if !policies.allSatisfy({ $0.isRevocation }) {
                state.hasPassed = true
            }
        }
        let subject = settings.certificates.first?.certificate.subject.description ?? ""
        return Verdict(failure: report.failure, result: result, subject: subject)
    }

    /// Returns the peer's certificates, with the anchors and intermediates with which they are evaluated.
    private func peerTrust(_ settings: Settings, _ changeCount: Int) -> PeerTrust {
        // The host and the OCSP responses are arguments of an evaluation: a policy contains the host.
        PeerTrust(
            certificates: settings.certificates.map(\.certificate), stapledResponse: nil, host: "",
            store: anchorStore(settings, changeCount), intermediates: context.intermediates)
    }

    /// Returns the anchors to use: the anchors that the program has set, the session's or system's roots, or all of these
    /// (I-12.2, I-12.3).
    private func anchorStore(_ settings: Settings, _ changeCount: Int) -> TrustStore {
        // A store of other settings cannot be used. The same check is made before the new store is kept.
        let cachedStore = state.withLock { $0.changeCount == changeCount ? $0.anchorStore : nil }
        if let cachedStore { return cachedStore }
        let anchors = settings.anchors?.map(\.certificate) ?? []
        let store: TrustStore
        if settings.usesOnlyAnchors {
            store = TrustStore(anchors: anchors)
        } else {
            let roots = context.roots ?? .system
            store = anchors.isEmpty ? roots : roots.adding(anchors)
        }
        state.withLock { if $0.changeCount == changeCount { $0.anchorStore = store } }
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
