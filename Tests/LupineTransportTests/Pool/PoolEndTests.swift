// SPDX-License-Identifier: MIT

import LupineOrigin
import Testing

@testable import LupineTransport

/// The order of things at the end of a pool.
@Suite struct PoolEndTests {
    /// Eight wait behind one; their ends are told on all four loops.
    @Test func everySinkHasHeardItsEndBeforeThePoolSaysThatItIsDone() async throws {
        for _ in 0..<20 {
            let plan = ScriptPlan(.expectHead, .signal("asked"), .stall)
            try await withPool(plan, limits: PoolLimits(perHost: 1), loops: 4) { stage in
                var sinks: [RecordingSink] = []
                for _ in 0..<9 {
                    let made = try stage.exchange()
                    stage.pool.submit(made.exchange)
                    sinks.append(made.sink)
                }
                await stage.origin.gate("asked").wait()
                let all = sinks
                let ends = Box<[Int]>([])
                await withCheckedContinuation { continuation in
                    stage.pool.shutDown {
                        ends.update { $0 = all.map(\.log.value.ends) }
                        continuation.resume()
                    }
                }
                #expect(ends.value == Array(repeating: 1, count: 9))
            }
        }
    }
}
