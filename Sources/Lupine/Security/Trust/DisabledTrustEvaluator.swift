// SPDX-License-Identifier: MIT

public import LupineLoading

/// Trusts every server: an attacker who can redirect the connection can read and change all traffic. Never use it in a program
/// that others run.
public final class DisabledTrustEvaluator: ServerTrustEvaluating {
    /// Creates an evaluator that trusts every server.
    public init() {}

    /// Returns without a check.
    public func evaluate(_ trust: SecTrust, forHost host: String) throws {}
}

/// The former name of `DisabledTrustEvaluator`.
@available(*, deprecated, renamed: "DisabledTrustEvaluator")
public typealias DisabledEvaluator = DisabledTrustEvaluator
