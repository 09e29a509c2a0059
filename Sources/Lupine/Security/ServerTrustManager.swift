// SPDX-License-Identifier: MIT

internal import LupineLoading

/// Finds the evaluator of each host. A subclass can override `serverTrustEvaluator(forHost:)`. The class is `@unchecked Sendable`
/// because the compiler cannot verify an open class; it stores only constants.
open class ServerTrustManager: @unchecked Sendable {
    /// Whether requests to a host without an evaluator fail.
    public let allHostsMustBeEvaluated: Bool
    /// The evaluators by host, under the keys that the initializer received. A host may be written in upper or lower case, in
    /// Unicode or in IDNA's ASCII form, and with a trailing dot; an IPv6 address may have brackets and any spelling.
    public let evaluators: [String: any ServerTrustEvaluating]
    /// The evaluators by the name in the form in which servers are compared: canonical, and without the trailing dot of a domain
    /// name. `HostName.server` returns this form of a canonical name.
    private let evaluatorsByName: [String: any ServerTrustEvaluating]

    /// Creates a manager for these hosts.
    public init(
        allHostsMustBeEvaluated: Bool = true, evaluators: [String: any ServerTrustEvaluating]
    ) {
        self.allHostsMustBeEvaluated = allHostsMustBeEvaluated
        self.evaluators = evaluators
        // If a host occurs in several spellings, the first in order is used, so that the choice does not depend on the unordered
        // dictionary.
        evaluatorsByName = Dictionary(
            evaluators.sorted { $0.key < $1.key }
                .map { (HostName.server(HostName.canonical($0.key)), $0.value) },
            uniquingKeysWith: { first, _ in first })
    }

    /// Returns the evaluator for a host; nil if the loading system evaluates the host by default. Throws if the host has no
    /// evaluator but must have one. Called on the session's root queue.
    open func serverTrustEvaluator(forHost host: String) throws -> (any ServerTrustEvaluating)? {
        // The session passes the host of a connection, which is canonical already.
        if let evaluator = evaluators[host] ?? evaluatorsByName[HostName.server(host)] { return evaluator }
        if allHostsMustBeEvaluated {
            throw AFError.serverTrustEvaluationFailed(reason: .noRequiredEvaluator(host: host))
        }
        return nil
    }

    /// Whether it is certain, without a call of the program's code, that the host has no evaluator and may have none: the loading
    /// system then evaluates the host. False for a subclass, which may return an evaluator for any host. `host` is canonical.
    func usesDefaultEvaluation(forHost host: String) -> Bool {
        type(of: self) == ServerTrustManager.self && !allHostsMustBeEvaluated && evaluators[host] == nil
            && evaluatorsByName[HostName.server(host)] == nil
    }
}
