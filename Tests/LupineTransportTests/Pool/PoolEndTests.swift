// SPDX-License-Identifier: MIT

import LupineOrigin
import Testing

@testable import LupineTransport

/// The order of events at the end of a pool.
@Suite struct PoolEndTests {
    /// Eight exchanges wait for the connection of another one; their ends are reported on all four loops.
    @Test func everySinkIsToldItsEndBeforeTheShutdownCompletes() async throws {
        for _ in 0..<20 {
            let plan = ScriptPlan(.expectHead, .signal("asked"), .stall)
            try await withPool(plan, limits: PoolLimits(perHost: 1), loops: 4) { stage in
                var sinks: [RecordingSink] = []
                for _ in 0..<9 {
                    let pair = try stage.exchange()
                    stage.pool.submit(pair.exchange)
                    sinks.append(pair.sink)
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

    /// The alarm of idle connections, which is due in a minute, must not keep the pool alive on loops that continue to run. In
    /// every second round the pool ends while exchanges run, and so while alarms are being set.
    @Test(arguments: [false, true]) func aPoolThatHasEndedIsReleased(retires: Bool) async throws {
        let origin = try OriginServer.start()
        let group = try EventLoopGroup(count: 2, name: "stage")
        for round in 0..<100 {
            weak var pool: ConnectionPool?
            do {
                let stage = PoolStage(origin, group, PoolLimits())
                pool = stage.pool
                let pairs = try (0..<4).map { _ in try stage.exchange(.get, "/get") }
                for pair in pairs { stage.pool.submit(pair.exchange) }
                if round.isMultiple(of: 2) { for pair in pairs { await pair.sink.ended.wait() } }
                await withCheckedContinuation { continuation in
                    let completion: @Sendable () -> Void = { continuation.resume() }
                    if retires { stage.pool.retire(completion) } else { stage.pool.shutDown(completion) }
                }
            }
            for _ in 0..<1000 where pool != nil {
                for loop in group.loops {
                    await withCheckedContinuation { continuation in
                        _ = loop.execute { continuation.resume() }
                    }
                }
            }
            #expect(pool == nil, "round \(round)")
        }
        await group.shutdown()
        await origin.shutdown()
    }
}
