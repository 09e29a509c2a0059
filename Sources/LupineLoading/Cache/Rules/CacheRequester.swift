// SPDX-License-Identifier: MIT

internal import LupineTLS

/// The trust policy, client certificate and route that a task would use for a connection, with which it looks up the cache.
/// Immutable; most tasks of a session share one.
final class CacheRequester: Hashable, Sendable {
    /// How the task evaluates servers.
    enum Policy: Hashable, Sendable {
        /// The default evaluation, under these roots.
        case standard(roots: String)
        /// The chain must have one key of each set; with roots, it must also pass the default evaluation.
        case pins([Set<SHA256Digest>], roots: String?)
        /// The program's code, or an evaluator that cannot be applied to the data in an entry.
        case judge(TrustJudge)
    }

    let policy: Policy
    /// The digest of the client certificate that the task would send, if it is known before connecting.
    let client: SHA256Digest?
    /// The route of a request without TLS; nil for a direct one.
    let route: CacheRoute?
    /// The fields that identify users in the session's requests.
    let identifyingFields: IdentifyingFields

    init(
        policy: Policy, client: SHA256Digest? = nil, route: CacheRoute? = nil,
        identifyingFields: IdentifyingFields = .usual
    ) {
        self.policy = policy
        self.client = client
        self.route = route
        self.identifyingFields = identifyingFields
    }

    /// Returns the policy of an evaluator under these roots, for a task without delegates that evaluate trust.
    static func policy(_ evaluator: TrustEvaluator, roots: String) -> Policy {
        guard let required = evaluator.requiredKeys, !evaluator.checksNothing else {
            return .judge(TrustJudge(objects: [], evaluator: evaluator, roots: roots))
        }
        if required.isEmpty { return .standard(roots: roots) }
        return .pins(
            required.map { Set($0.map(\.digest)) }, roots: evaluator.includesDefault ? roots : nil)
    }

    /// The delegates or evaluator that decide about servers; nil if the policy describes the decision itself.
    var judge: TrustJudge? {
        if case .judge(let judge) = policy { return judge }
        return nil
    }

    static func == (left: CacheRequester, right: CacheRequester) -> Bool {
        left.policy == right.policy && left.client == right.client && left.route == right.route
            && left.identifyingFields.name == right.identifyingFields.name
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(policy)
        hasher.combine(client)
        hasher.combine(route)
    }
}
