// SPDX-License-Identifier: MIT

public import LupineLoading

/// Trusts a server whose chain is valid, ends at an anchor and names the host, as the loading system does by default. The check
/// of the host can be disabled. Use this evaluator for hosts that must have an evaluator, but need no further checks.
public final class DefaultTrustEvaluator: ServerTrustEvaluating {
    private let validateHost: Bool

    /// Creates an evaluator.
    ///
    /// - Parameter validateHost: Whether the host's name is checked.
    public init(validateHost: Bool = true) { self.validateHost = validateHost }

    /// Returns if the chain is valid; otherwise throws `AFError.serverTrustEvaluationFailed`.
    public func evaluate(_ trust: SecTrust, forHost host: String) throws {
        if validateHost { try trust.af.performValidation(forHost: host) }
        try trust.af.performDefaultValidation(forHost: host)
    }
}
