// SPDX-License-Identifier: MIT

public import LupineLoading

/// Trusts a server that each of its evaluators trusts. They are asked in order, of one and the same trust, which keeps the
/// policies and anchors that the last of them has set.
public final class CompositeTrustEvaluator: ServerTrustEvaluating {
    private let evaluators: [any ServerTrustEvaluating]

    /// An evaluator that asks these; without any it trusts everybody.
    public init(evaluators: [any ServerTrustEvaluating]) { self.evaluators = evaluators }

    /// Returns when all of them do; throws what the first of them throws.
    public func evaluate(_ trust: SecTrust, forHost host: String) throws {
        try evaluators.evaluate(trust, forHost: host)
    }
}

extension ServerTrustEvaluating where Self == CompositeTrustEvaluator {
    /// An evaluator that asks these, one after the other.
    public static func composite(evaluators: [any ServerTrustEvaluating]) -> CompositeTrustEvaluator {
        CompositeTrustEvaluator(evaluators: evaluators)
    }
}
