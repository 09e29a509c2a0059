// SPDX-License-Identifier: MIT

internal import LupineTLS

/// Who asks the cache: what a task would hold a connection to if it opened one now. Immutable; most tasks of a session share
/// one.
final class CacheReader: Hashable, Sendable {
    /// How it judges servers.
    enum Policy: Hashable, Sendable {
        /// The default evaluation, under these roots.
        case standard(roots: String)
        /// Of each set one key has to be in the chain; with roots, the default evaluation too.
        case pins([Set<SHA256Digest>], roots: String?)
        /// Code of the program's, or an evaluator that cannot be applied to what an entry notes.
        case judge(TrustJudge)
    }

    let policy: Policy
    /// The certificate that it would show, as far as that is known before connecting.
    let client: SHA256Digest?
    /// The way of a request without TLS; nil for the plain one.
    let way: CacheWay?
    /// The fields that tell its users apart.
    let identifyingFields: IdentifyingFields

    init(
        policy: Policy, client: SHA256Digest? = nil, way: CacheWay? = nil,
        identifyingFields: IdentifyingFields = .usual
    ) {
        self.policy = policy
        self.client = client
        self.way = way
        self.identifyingFields = identifyingFields
    }

    /// The policy that an evaluator comes to under these roots, where nobody else is asked.
    static func policy(_ evaluator: TrustEvaluator, roots: String) -> Policy {
        guard let required = evaluator.requiredKeys, !evaluator.checksNothing else {
            return .judge(TrustJudge(objects: [], evaluator: evaluator, roots: roots))
        }
        if required.isEmpty { return .standard(roots: roots) }
        return .pins(
            required.map { Set($0.map(\.digest)) }, roots: evaluator.includesDefault ? roots : nil)
    }

    /// Under whom what it receives was accepted; nil where the evaluator's verdict says all.
    var judge: TrustJudge? {
        if case .judge(let judge) = policy { return judge }
        return nil
    }

    static func == (left: CacheReader, right: CacheReader) -> Bool {
        left.policy == right.policy && left.client == right.client && left.way == right.way
            && left.identifyingFields.name == right.identifyingFields.name
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(policy)
        hasher.combine(client)
        hasher.combine(way)
    }
}
