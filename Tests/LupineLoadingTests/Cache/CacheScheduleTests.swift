// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport
import Testing

@testable import LupineLoading

/// When the store's next batch begins.
struct CacheScheduleTests {
    typealias State = CacheStore.State

    /// A state with a change that is to be written.
    func state(waiting size: Int = 0, next: Instant = .distantFuture) -> State {
        var state = State(memoryCapacity: 0, diskCapacity: 1 << 30)
        state.clearFolder()
        state.mustClear = false
        state.queue.append((CacheKey(address: "http://h/", partition: nil), 1))
        state.pendingSize = size
        state.nextBatchTime = next
        return state
    }

    @Test("[U-12.3] a batch starts at once if none was written lately, or if much waits")
    func beginnings() {
        let half = 512 << 10
        let rows: [(size: Int, next: Instant, expected: CacheStore.BatchStart?)] = [
            (0, Instant(nanoseconds: 0), .now), (0, .distantFuture, .at(.distantFuture)),
            (half - 1, .distantFuture, .at(.distantFuture)), (half, .distantFuture, .now),
        ]
        for (size, next, expected) in rows {
            var state = state(waiting: size, next: next)
            #expect(state.claimBatch() == expected, "\(size)")
            // It is arranged only once.
            #expect(state.claimBatch() == nil, "\(size)")
        }
        var clearing = state()
        clearing.mustClear = true
        #expect(clearing.claimBatch() == .now)
        var failed = state(waiting: half)
        (failed.mustClear, failed.hasFailedToClear) = (true, true)
        #expect(failed.claimBatch() == .at(.distantFuture))
        var idle = State(memoryCapacity: 0, diskCapacity: 1 << 30)
        #expect(idle.claimBatch() == nil)
    }

    @Test("[U-12.3] a delayed batch starts at once when much waits, and only once")
    func muchComesLater() {
        var state = state()
        #expect(state.claimBatch() == .at(.distantFuture))
        state.pendingSize = 512 << 10
        #expect(state.claimBatch() == .now)
        #expect(state.claimBatch() == nil)
        #expect(state.alarmFired() == false)
    }

    @Test("[U-12.3] the alarm starts the batch once; the next one is delayed")
    func alarms() {
        var state = state()
        #expect(state.alarmFired() == false)
        #expect(state.claimBatch() == .at(.distantFuture))
        #expect(state.alarmFired() == true)
        #expect(state.alarmFired() == false)
        #expect(state.claimBatch() == nil)
        let before = MonotonicClock().now()
        guard case .at(let moment) = state.endBatch() else {
            Issue.record("another change waits, and no batch follows")
            return
        }
        #expect(moment > before && moment == state.nextBatchTime)
        #expect(state.alarmFired() == true)
        state.queue = Queue()
        #expect(state.endBatch() == nil)
        #expect(state.alarmFired() == false)
    }

    @Test("[U-12.3] pending changes of a released cache are written then")
    func releasedCaches() async throws {
        let stage = CacheStage()
        let addresses = (0..<20).map { "http://h/\($0)" }
        func storeAll() throws {
            let cache = stage.cache()
            for address in addresses {
                cache.storeCachedResponse(
                    try CacheStage.loaded("a", url: address), for: try CacheStage.request(address))
            }
        }
        try storeAll()
        // The batch that is being written may be followed by the last one.
        for _ in 0..<2 { await withCheckedContinuation { idle in StorageQueue.run { idle.resume() } } }
        #expect(stage.entries.count == addresses.count)
    }
}
