// SPDX-License-Identifier: MIT

public import LupineLoading

/// Trusts a server whose chain is valid, ends at an anchor and, unless that is left out, names the host: what the loading
/// system does by itself. For hosts that are listed although nothing more is asked of them.
public final class DefaultTrustEvaluator: ServerTrustEvaluating {
    private let validateHost: Bool

    /// An evaluator that looks at the host's name, or does not.
    public init(validateHost: Bool = true) { self.validateHost = validateHost }

    /// Returns when the chain is valid; throws `AFError.serverTrustEvaluationFailed` when it is not.
    public func evaluate(_ trust: SecTrust, forHost host: String) throws {
        if validateHost { try trust.af.performValidation(forHost: host) }
        try trust.af.performDefaultValidation(forHost: host)
    }
}
