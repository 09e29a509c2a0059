// SPDX-License-Identifier: MIT

internal import LupineTLS

/// The trust policy, client certificate and route of a task that asks the cache: the requirements for a connection of its own.
/// Immutable; most tasks of a session share one.
final class CacheRequester: Hashable, Sendable {
    /// How the reader evaluates servers.
    enum Policy: Hashable, Sendable {
        /// The default evaluation, under these roots.
        case standard(roots: String)
        /// One key of each set must be in the chain; with roots, the default evaluation must pass too.
        case pins([Set<SHA256Digest>], roots: String?)
        /// The program's code, or an evaluator that cannot be applied to the data in an entry.
        case judge(TrustJudge)
    }

    let policy: Policy
    /// The digest of the client certificate that the reader would show, if it is known before connecting.
    let client: SHA256Digest?
    /// The route of a request without TLS; nil for a direct one.
    let route: CacheRoute?
    /// The fields that tell the reader's users apart.
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

    /// Returns the policy of an evaluator under these roots, if no delegate is asked.
    static func policy(_ evaluator: TrustEvaluator, roots: String) -> Policy {
        guard let required = evaluator.requiredKeys, !evaluator.checksNothing else {
            return .judge(TrustJudge(objects: [], evaluator: evaluator, roots: roots))
        }
        if required.isEmpty { return .standard(roots: roots) }
        return .pins(
            required.map { Set($0.map(\.digest)) }, roots: evaluator.includesDefault ? roots : nil)
    }

    /// The delegates or evaluator under which the reader accepts connections; nil if the policy alone describes its criteria.
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
