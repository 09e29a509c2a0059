// SPDX-License-Identifier: MIT

public import LupineLoading

/// Evaluates whether a server is to be trusted.
public protocol ServerTrustEvaluating: Sendable {
    /// Returns if the host is trusted, otherwise throws. The thrown error fails the request: an `AFError` unchanged, any other
    /// error wrapped in `serverTrustEvaluationFailed(.customEvaluationFailed)`. Called on the session's root queue, before a byte
    /// of the request is sent.
    func evaluate(_ trust: SecTrust, forHost host: String) throws
}

extension Array where Element == any ServerTrustEvaluating {
    /// Runs one evaluator after the other; throws the error of the first that throws.
    public func evaluate(_ trust: SecTrust, forHost host: String) throws {
        assertNoLockIsHeld()
        assertNotOnLoop()
        for evaluator in self { try evaluator.evaluate(trust, forHost: host) }
    }
}
