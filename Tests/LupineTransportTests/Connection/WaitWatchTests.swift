// SPDX-License-Identifier: MIT

import Dispatch
import LupineOrigin
import Testing

@testable import LupineTransport

/// The time-outs of an exchange without a connection: one timer at a time, whichever loop it is on.
@Suite struct WaitWatchTests {
    /// An exchange that returns to the pool is watched by another loop. If the first loop's timer is due at that moment, and
    /// fires before it is cancelled, the first loop must not mistake the other loop's timer for its own.
    @Test func aTimerThatFiresWhileAnotherLoopTakesOver() async throws {
        try await withPool(loops: 2) { stage in
            let (first, second) = (stage.group.loops[0], stage.group.loops[1])
            let options = ExchangeOptions(
                timeouts: TransferTimeouts(idle: .milliseconds(40), whole: .seconds(3_600)))
            let (exchange, sink) = try stage.exchange(options: options)
            #expect(exchange.markClaimed(in: stage.pool, by: ConnectionID(index: 9, generation: 9)))
            let fired = Gate()
            await first.run {
                // The watch checks again after a quarter of the idle time, at least 10 ms. Of timers that are due together, the
                // one that was set first fires first.
                let nextCheck = first.now + .milliseconds(10)
                _ = first.schedule(at: nextCheck) { _ in
                    // The exchange now waits under the `whole` time-out alone, which is far away.
                    #expect(exchange.park(in: stage.pool, needsFresh: true))
                    let watchBegan = DispatchSemaphore(value: 0)
                    #expect(
                        second.execute {
                            exchange.runWaitTimeouts(on: second)
                            watchBegan.signal()
                        })
                    #expect(watchBegan.wait(timeout: .now() + 60) == .success)
                }
                exchange.runWaitTimeouts(on: first)
                _ = first.schedule(at: nextCheck) { _ in fired.open() }
                #expect(first.timerCount == 3)
            }
            await fired.wait()
            exchange.cancel()
            await sink.ended.wait()
            // The jobs that the end of the exchange submits have run after one turn of each loop, whichever loop they are for.
            for loop in [first, second] { await loop.run {} }
            for loop in [first, second] { #expect(await loop.run { loop.timerCount } == 0) }
        }
    }
}
