// SPDX-License-Identifier: MIT

import Foundation
import Lupine

/// A request that fails twice succeeds on its third attempt; each retry waits longer than the one before.
enum RetryAct: DemoAct {
    static let title = "Retry with back-off"
    static let code = """
        let policy = RetryPolicy(retryLimit: 3, exponentialBackoffScale: 0.1)
        let request = session.request("\\(root)/flaky", interceptor: policy).validate()
        let text = try await request.serializingString().value
        """

    static func run(in demo: DemoContext) async throws {
        let (session, root) = (demo.session, demo.root)
        let policy = RetryPolicy(retryLimit: 3, exponentialBackoffScale: 0.1)
        let request = session.request("\(root)/flaky", interceptor: policy).validate()
        let text = try await request.serializingString().value
        for (index, metrics) in request.allMetrics.enumerated() {
            let start = request.allMetrics[0].taskInterval.start
            let milliseconds = Int(metrics.taskInterval.start.timeIntervalSince(start) * 1000)
            demo.printResult("attempt \(index + 1) after \(milliseconds) ms")
        }
        demo.printResult("\"\(text)\" came, after \(request.retryCount) retries")
        try demo.require(request.retryCount == 2, "the third attempt succeeds")
    }
}
