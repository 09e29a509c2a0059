// SPDX-License-Identifier: MIT

import LupineLoading

@testable import Lupine

/// Judges servers by a closure, which is given the host.
struct ClosureEvaluator: ServerTrustEvaluating {
    let judge: @Sendable (String) throws -> Void

    func evaluate(_ trust: SecTrust, forHost host: String) throws { try judge(host) }
}
