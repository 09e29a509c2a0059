// SPDX-License-Identifier: MIT

/// Finds the evaluator of each host. It can be subclassed, to find it another way; it stores two constants, which is what
/// makes it `Sendable`.
open class ServerTrustManager: @unchecked Sendable {
    /// Whether a host without an evaluator is refused.
    public let allHostsMustBeEvaluated: Bool
    /// The evaluators by host, as it stands in URLs.
    public let evaluators: [String: any ServerTrustEvaluating]

    /// A manager for these hosts.
    public init(
        allHostsMustBeEvaluated: Bool = true, evaluators: [String: any ServerTrustEvaluating]
    ) {
        self.allHostsMustBeEvaluated = allHostsMustBeEvaluated
        self.evaluators = evaluators
    }

    /// The evaluator for a host; nil leaves the host to the loading system. Throws when the host has none and must have
    /// one. Called on the session's root queue.
    open func serverTrustEvaluator(forHost host: String) throws -> (any ServerTrustEvaluating)? {
        if let evaluator = evaluators[host] { return evaluator }
        if allHostsMustBeEvaluated {
            throw AFError.serverTrustEvaluationFailed(reason: .noRequiredEvaluator(host: host))
        }
        return nil
    }
}
