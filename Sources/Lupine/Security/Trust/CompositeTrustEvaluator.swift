// SPDX-License-Identifier: MIT

public import LupineLoading

/// Trusts a server that all of its evaluators trust. They run in order on the same trust object. The policies and anchors that
/// one evaluator sets on it apply to the next evaluator too, unless it sets its own.
public final class CompositeTrustEvaluator: ServerTrustEvaluating {
    private let evaluators: [any ServerTrustEvaluating]

    /// Creates an evaluator that runs `evaluators`. If the array is empty, it trusts every server.
    public init(evaluators: [any ServerTrustEvaluating]) { self.evaluators = evaluators }

    /// Returns if all evaluators return. Throws the error of the first evaluator that throws.
    public func evaluate(_ trust: SecTrust, forHost host: String) throws {
        try evaluators.evaluate(trust, forHost: host)
    }
}

extension ServerTrustEvaluating where Self == CompositeTrustEvaluator {
    /// Returns an evaluator that runs `evaluators`, one after the other.
    public static func composite(evaluators: [any ServerTrustEvaluating]) -> CompositeTrustEvaluator {
        CompositeTrustEvaluator(evaluators: evaluators)
    }
}
