// SPDX-License-Identifier: MIT

import LupineLoading

@testable import Lupine

/// An evaluator that calls a closure with the host.
struct ClosureEvaluator: ServerTrustEvaluating {
    let evaluation: @Sendable (String) throws -> Void

    func evaluate(_ trust: SecTrust, forHost host: String) throws { try evaluation(host) }
}
