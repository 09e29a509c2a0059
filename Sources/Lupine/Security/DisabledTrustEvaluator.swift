// SPDX-License-Identifier: MIT

public import LupineLoading

/// Trusts everybody: whoever can redirect the connection can read and change what goes over it. Never for a program that
/// leaves the developer's machine.
public final class DisabledTrustEvaluator: ServerTrustEvaluating {
    /// An evaluator that trusts everybody.
    public init() {}

    /// Returns.
    public func evaluate(_ trust: SecTrust, forHost host: String) throws {}
}

/// The former name of `DisabledTrustEvaluator`.
@available(*, deprecated, renamed: "DisabledTrustEvaluator")
public typealias DisabledEvaluator = DisabledTrustEvaluator
