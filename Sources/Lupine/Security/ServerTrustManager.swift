// SPDX-License-Identifier: MIT

internal import LupineLoading

/// Finds the evaluator of each host. It can be subclassed, to find it another way; it stores constants, which is what makes
/// it `Sendable`.
open class ServerTrustManager: @unchecked Sendable {
    /// Whether a host without an evaluator is refused.
    public let allHostsMustBeEvaluated: Bool
    /// The evaluators by host, as they were given: in any mix of cases, in Unicode or as IDNA has it, an address of IP version 6
    /// with brackets or without, in any spelling. A dot behind the name makes no other host of it.
    public let evaluators: [String: any ServerTrustEvaluating]
    /// The same by server.
    private let byName: [String: any ServerTrustEvaluating]

    /// A manager for these hosts.
    public init(
        allHostsMustBeEvaluated: Bool = true, evaluators: [String: any ServerTrustEvaluating]
    ) {
        self.allHostsMustBeEvaluated = allHostsMustBeEvaluated
        self.evaluators = evaluators
        byName = Dictionary(
            evaluators.sorted { $0.key < $1.key }
                .map { (HostName.server(HostName.canonical($0.key)), $0.value) },
            uniquingKeysWith: { first, _ in first })
    }

    /// The evaluator for a host; nil leaves the host to the loading system. Throws when the host has none and must have
    /// one. Called on the session's root queue.
    open func serverTrustEvaluator(forHost host: String) throws -> (any ServerTrustEvaluating)? {
        if let evaluator = evaluators[host] ?? byName[HostName.server(host)] { return evaluator }
        if allHostsMustBeEvaluated {
            throw AFError.serverTrustEvaluationFailed(reason: .noRequiredEvaluator(host: host))
        }
        return nil
    }

    /// Whether it is certain to have no evaluator for a host, and to need none. Calls no code of the program's.
    func leavesToDefault(host: String) -> Bool {
        type(of: self) == ServerTrustManager.self && !allHostsMustBeEvaluated && evaluators[host] == nil
            && byName[HostName.server(host)] == nil
    }
}
