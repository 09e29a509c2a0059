// SPDX-License-Identifier: MIT

internal import LupineLoading

/// Finds the evaluator of each host. It can be subclassed to change how. It is `Sendable` because its stored properties are
/// constants.
open class ServerTrustManager: @unchecked Sendable {
    /// Whether a host without an evaluator is refused.
    public let allHostsMustBeEvaluated: Bool
    /// The evaluators by host, as they were given: in upper or lower case, in Unicode or in IDNA's ASCII form, IPv6 addresses
    /// with or without brackets and in any spelling. A trailing dot does not matter.
    public let evaluators: [String: any ServerTrustEvaluating]
    /// The evaluators by canonical host name.
    private let byName: [String: any ServerTrustEvaluating]

    /// Creates a manager for these hosts.
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

    /// Returns the evaluator for a host; nil leaves the host to the loading system. Throws if the host has no evaluator but must
    /// have one. Called on the session's root queue.
    open func serverTrustEvaluator(forHost host: String) throws -> (any ServerTrustEvaluating)? {
        if let evaluator = evaluators[host] ?? byName[HostName.server(host)] { return evaluator }
        if allHostsMustBeEvaluated {
            throw AFError.serverTrustEvaluationFailed(reason: .noRequiredEvaluator(host: host))
        }
        return nil
    }

    /// Whether the host certainly has no evaluator and needs none; a subclass may decide otherwise. Calls none of the program's
    /// code.
    func leavesToDefault(host: String) -> Bool {
        type(of: self) == ServerTrustManager.self && !allHostsMustBeEvaluated && evaluators[host] == nil
            && byName[HostName.server(host)] == nil
    }
}
