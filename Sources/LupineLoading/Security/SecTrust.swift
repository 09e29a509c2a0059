// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTLS
internal import LupineTransport

/// A peer's certificates, and everything that they are judged by: policies, anchors, the date, answers about revocation.
///
/// Making and changing one judges nothing (I-12.1): that is asked for with `SecTrustEvaluateWithError`, as often as one likes.
/// It may be used from any thread, also by several at once, and outlives the connection that it came from: an evaluation
/// judges what was set when it began. Equal only to itself.
public final class SecTrust: Sendable {
    /// What the program sets.
    struct Settings: Sendable {
        /// The leaf first.
        var certificates: [SecCertificate]
        var policies: [SecPolicy]
        /// Those that the program has set; nil for none.
        var anchors: [SecCertificate]?
        /// Whether nothing else is an anchor.
        var hasOnlyTheseAnchors = false
        /// Nil for the moment of the evaluation.
        var verifyDate: Date?
        var mayFetch = true
        /// Answers about the leaf, in the order of preference.
        var responses: [[UInt8]] = []
    }

    /// What it was made with by whoever made it, apart from the certificates.
    struct Surroundings: Sendable {
        /// The roots of the session; nil for those of the system.
        var roots: TrustStore?
        /// Issuers for servers that forget to send theirs.
        var intermediates: [Certificate] = []
        /// How answers about revocation are had.
        var revocation: RevocationSupport?
    }

    /// What an evaluation has come to.
    struct Verdict: Sendable {
        let failure: TrustFailure?
        let result: SecTrustResultType
        /// The subject of the leaf, for messages.
        let subject: String
    }

    private struct State: Sendable {
        var settings: Settings
        /// Made of the anchors, when it was first needed since they were set.
        var store: TrustStore?
        var chain: [SecCertificate]?
        var result = SecTrustResultType.invalid
        /// The chain has passed what it was last evaluated under, some policy about the chain among it.
        var hasPassed = false
        /// The chain has one of the pins of an evaluator of the library's.
        var isPinned = false
        /// Counts the changes, so that an evaluation knows whether what it judged is still what is set.
        var version = 0
    }

    private let surroundings: Surroundings
    private let state: Lock<State>

    /// A trust in these certificates, the leaf first.
    init(
        certificates: [SecCertificate], policies: [SecPolicy], surroundings: Surroundings = Surroundings(),
        responses: [[UInt8]] = []
    ) {
        self.surroundings = surroundings
        state = Lock(
            State(
                settings: Settings(
                    certificates: certificates, policies: policies, responses: responses)))
    }

    /// The trust of a connection's peer (I-12.12): the server policy for its host, the session's roots, what the peer has
    /// presented and stapled.
    convenience init(_ peer: PeerTrust, revocation: RevocationSupport) {
        self.init(
            certificates: peer.certificates.map(SecCertificate.init),
            policies: [SecPolicy(.server(host: peer.host))],
            surroundings: Surroundings(
                roots: peer.store, intermediates: peer.intermediates, revocation: revocation),
            responses: peer.stapledResponse.map { [$0] } ?? [])
    }

    /// What is set.
    var settings: Settings { state.withLock { $0.settings } }

    /// Changes what is set; what was found out before counts no longer. `keepsPath` where neither the anchors nor the date
    /// change: policies and answers are no part of the path.
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

    /// What the last evaluation came to, if nothing has been changed since.
    var result: SecTrustResultType { state.withLock { $0.result } }

    /// Whether the chain has passed an evaluation, or a pin of the library's evaluators. To read it is no check, for what somebody
    /// has made of it cannot be known; nor is an evaluation that was refused, or that asked about revocation alone.
    var wasChecked: Bool { state.withLock { $0.hasPassed || $0.isPinned } }

    /// The chain has a pin that is wanted.
    package func notePinned() { state.withLock { $0.isPinned = true } }

    /// The leaf and the issuers that could be linked (I-12.5); built when it is first asked for.
    var chain: [SecCertificate] {
        let (settings, known, version) = state.withLock { ($0.settings, $0.chain, $0.version) }
        if let known { return known }
        let chain = peer(settings, version).chain().map(SecCertificate.init)
        state.withLock { if $0.version == version { $0.chain = chain } }
        return chain
    }

    /// The certificate that it is about.
    var leaf: SecCertificate? { state.withLock { $0.settings.certificates.first } }

    /// Judges. Blocks while answers about revocation are fetched, which happens only if a policy asks for them, fetching is
    /// allowed, and the thread is no loop's.
    func evaluate(mayFetch: Bool = true) -> Verdict {
        let (settings, version) = state.withLock { ($0.settings, $0.version) }
        let policies = settings.policies.map(\.policy)
        // What the process shares has loops: nobody makes it who does not ask about revocation.
        let asks = policies.contains { $0.isRevocation }
        let support = surroundings.revocation ?? (asks ? .shared : .none)
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
            store: store(settings, version), intermediates: surroundings.intermediates)
    }

    /// What ends a chain (I-12.2, I-12.3).
    private func store(_ settings: Settings, _ version: Int) -> TrustStore {
        if let known = state.withLock({ $0.version == version ? $0.store : nil }) { return known }
        let own = settings.anchors?.map(\.certificate) ?? []
        let store: TrustStore
        if settings.hasOnlyTheseAnchors {
            store = TrustStore(anchors: own)
        } else {
            let roots = surroundings.roots ?? .system
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
    /// Whether it asks about revocation, and not about the chain itself.
    fileprivate var isRevocation: Bool { if case .revocation = self { true } else { false } }
}

extension Int64 {
    /// The second that a date lies in; dates beyond all seconds are the last or the first.
    fileprivate init(clamping date: Date) {
        let seconds = date.timeIntervalSince1970.rounded(.down)
        self = Int64(exactly: seconds) ?? (seconds < 0 ? .min : .max)
    }
}
