// SPDX-License-Identifier: MIT

internal import LupineTLS

/// The task that looks up the cache, as far as that decides which entries it may receive: the trust policy, the client
/// certificate and the route that it would use for a connection. Immutable; most tasks of a session share one object.
final class CacheRequester: Hashable, Sendable {
    /// How the task evaluates servers.
    enum Policy: Hashable, Sendable {
        /// The default evaluation, under the root certificates with this name.
        case standard(roots: String)
        /// The server's chain must have one key of each set. If `roots` is not nil, it must also pass the default evaluation
        /// under the root certificates with this name.
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
        identifyingFields: IdentifyingFields = .defaultFields
    ) {
        self.policy = policy
        self.client = client
        self.route = route
        self.identifyingFields = identifyingFields
    }

    /// Returns the policy of an evaluator under the root certificates with this name, for a task without delegates that evaluate
    /// trust.
    static func policy(_ evaluator: TrustEvaluator, roots: String) -> Policy {
        // `requiredKeys` is nil for an evaluator with checks other than pins and the default evaluation.
        guard let requiredKeys = evaluator.requiredKeys, !evaluator.checksNothing else {
            return .judge(TrustJudge(objects: [], evaluator: evaluator, roots: roots))
        }
        if requiredKeys.isEmpty { return .standard(roots: roots) }
        return .pins(
            // Each element is a set of pins, of which the chain must have one.
            requiredKeys.map { Set($0.map(\.digest)) }, roots: evaluator.includesDefault ? roots : nil)
    }

    /// The delegates or evaluator that decide about servers; nil if the policy describes the decision itself.
    var judge: TrustJudge? {
        if case .judge(let judge) = policy { return judge }
        return nil
    }

    static func == (left: CacheRequester, right: CacheRequester) -> Bool {
        left.policy == right.policy && left.client == right.client && left.route == right.route
            && left.identifyingFields.digest == right.identifyingFields.digest
    }

    /// Leaves out the identifying fields, which rarely differ.
    func hash(into hasher: inout Hasher) {
        hasher.combine(policy)
        hasher.combine(client)
        hasher.combine(route)
    }
}
