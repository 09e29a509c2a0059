// SPDX-License-Identifier: MIT

internal import LupineLoading

/// Finds the evaluator of each host. A subclass can override `serverTrustEvaluator(forHost:)`. `@unchecked Sendable` because it
/// can be subclassed; it stores constants.
open class ServerTrustManager: @unchecked Sendable {
    /// Whether a host without an evaluator is refused.
    public let allHostsMustBeEvaluated: Bool
    /// The evaluators by host, as they were given: in upper or lower case, in Unicode or in IDNA's ASCII form, IPv6 addresses
    /// with or without brackets and in any spelling. A trailing dot does not matter.
    public let evaluators: [String: any ServerTrustEvaluating]
    /// The evaluators by canonical host name.
    private let evaluatorsByName: [String: any ServerTrustEvaluating]

    /// Creates a manager for these hosts.
    public init(
        allHostsMustBeEvaluated: Bool = true, evaluators: [String: any ServerTrustEvaluating]
    ) {
        self.allHostsMustBeEvaluated = allHostsMustBeEvaluated
        self.evaluators = evaluators
        // Sorted, so that of several spellings of one host always the same is used.
        evaluatorsByName = Dictionary(
            evaluators.sorted { $0.key < $1.key }
                .map { (HostName.server(HostName.canonical($0.key)), $0.value) },
            uniquingKeysWith: { first, _ in first })
    }

    /// Returns the evaluator for a host; nil if the loading system evaluates the host by default. Throws if the host has no
    /// evaluator but must have one. Called on the session's root queue.
    open func serverTrustEvaluator(forHost host: String) throws -> (any ServerTrustEvaluating)? {
        if let evaluator = evaluators[host] ?? evaluatorsByName[HostName.server(host)] { return evaluator }
        if allHostsMustBeEvaluated {
            throw AFError.serverTrustEvaluationFailed(reason: .noRequiredEvaluator(host: host))
        }
        return nil
    }

    /// Whether the loading system evaluates the host by default, as far as this is known without calling the program's code.
    /// False for a subclass, which may return an evaluator for any host.
    func leavesToDefault(host: String) -> Bool {
        type(of: self) == ServerTrustManager.self && !allHostsMustBeEvaluated && evaluators[host] == nil
            && evaluatorsByName[HostName.server(host)] == nil
    }
}
