// SPDX-License-Identifier: MIT

public import LupineLoading

/// Judges whether a server is who it says it is.
public protocol ServerTrustEvaluating: Sendable {
    /// Returns when the host is trusted, and throws when it is not: an `AFError` fails the request as it is, another error as
    /// `serverTrustEvaluationFailed(.customEvaluationFailed)`. Called on the session's root queue, before a byte of the
    /// request is sent.
    func evaluate(_ trust: SecTrust, forHost host: String) throws
}

extension Array where Element == any ServerTrustEvaluating {
    /// Asks one evaluator after the other; the first that throws decides.
    public func evaluate(_ trust: SecTrust, forHost host: String) throws {
        assertNoLockIsHeld()
        assertNotOnLoop()
        for evaluator in self { try evaluator.evaluate(trust, forHost: host) }
    }
}
