// SPDX-License-Identifier: MIT

public import LupineLoading

/// Trusts a server that all of its evaluators trust. They run in order on the same trust object, which keeps the policies and
/// anchors that an evaluator sets, until a later one sets others.
public final class CompositeTrustEvaluator: ServerTrustEvaluating {
    private let evaluators: [any ServerTrustEvaluating]

    /// Creates an evaluator that runs these. With an empty list it trusts every server.
    public init(evaluators: [any ServerTrustEvaluating]) { self.evaluators = evaluators }

    /// Returns if all evaluators do; throws the error of the first that throws.
    public func evaluate(_ trust: SecTrust, forHost host: String) throws {
        try evaluators.evaluate(trust, forHost: host)
    }
}

extension ServerTrustEvaluating where Self == CompositeTrustEvaluator {
    /// Returns an evaluator that runs these, one after the other.
    public static func composite(evaluators: [any ServerTrustEvaluating]) -> CompositeTrustEvaluator {
        CompositeTrustEvaluator(evaluators: evaluators)
    }
}
