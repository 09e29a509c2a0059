// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineOrigin
import LupineTestKit
import Testing

@testable import LupineTransport

/// U-6.4: a suspended exchange neither sends nor reads, and continues where it stopped.
@Suite struct SuspensionTests {
    private static let page = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc"

    @Test func aSuspendedExchangeReadsNothing() async throws {
        let plan = ScriptPlan(
            .expectHead, .send(Self.page), .waitForSignal("more"), .send("def"), .signal("sent"), .stall)
        try await withPool(plan) { stage in
            let sink = RecordingSink()
            let made = try stage.exchange(sink: sink)
            stage.pool.submit(made.exchange)
            await sink.headCame.wait()
            made.exchange.setSuspended(true)
            await stage.settle()
            stage.origin.gate("more").open()
            await stage.origin.gate("sent").wait()
            await stage.settle()
            #expect(sink.text == "abc" && sink.log.value.ends == 0)
            made.exchange.setSuspended(false)
            await sink.ended.wait()
            #expect(sink.text == "abcdef" && sink.failure == nil)
        }
    }

    /// Suspends between two chunks of one read: the second one waits.
    @Test(arguments: [false, true]) func suspendedByItsOwnConsumer(_ atHead: Bool) async throws {
        let plan = ScriptPlan(
            .expectHead,
            .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n2\r\ncd\r\n0\r\n\r\n"),
            .stall)
        try await withPool(plan) { stage in
            let running = Box<Exchange?>(nil)
            let stop = { @Sendable in running.value?.setSuspended(true) }
            let stopped = Gate()
            let sink = RecordingSink(
                plan: {
                    if atHead { stop() }
                    if atHead { stopped.open() }
                    return .deliver
                },
                demand: { count in
                    if !atHead, count == 2 { stop() }
                    if !atHead, count == 2 { stopped.open() }
                    return .more
                })
            let made = try stage.exchange(sink: sink)
            running.update { $0 = made.exchange }
            stage.pool.submit(made.exchange)
            await stopped.wait()
            await stage.settle()
            #expect(sink.text == (atHead ? "" : "ab"))
            made.exchange.setSuspended(false)
            await sink.ended.wait()
            running.update { $0 = nil }
            #expect(sink.text == "abcd" && sink.failure == nil && sink.log.value.ends == 1)
        }
    }

    @Test func pausedAndSuspendedTakesBothToGoOn() async throws {
        let plan = ScriptPlan(.expectHead, .send(Self.page + "def"), .stall)
        try await withPool(plan) { stage in
            let sink = RecordingSink(plan: { .pause })
            let made = try stage.exchange(sink: sink)
            stage.pool.submit(made.exchange)
            await sink.headCame.wait()
            made.exchange.setSuspended(true)
            made.exchange.resume()
            await stage.settle()
            #expect(sink.text == "")
            made.exchange.setSuspended(false)
            await sink.ended.wait()
            #expect(sink.text == "abcdef" && sink.failure == nil)
        }
    }

    @Test func nothingIsSentAndTheFirstConnectionIsKept() async throws {
        let plan = ScriptPlan(.expectHead, .reply("late"), .stall)
        try await withPool(plan) { stage in
            let made = try stage.exchange()
            made.exchange.setSuspended(true)
            stage.pool.submit(made.exchange)
            // The connection is established, and goes back to the pool unused.
            while stage.pool.idleCount == 0 { await Task.yield() }
            await stage.settle()
            #expect(made.sink.log.value.order.isEmpty)
            made.exchange.setSuspended(false)
            await made.sink.ended.wait()
            #expect(made.sink.text == "late" && stage.pool.connectionsOpened == 1)
        }
    }

    @Test func anUploadStandsStill() async throws {
        let count = 32 << 20
        let plan = ScriptPlan(
            .expectHead, .signal("head"), .waitForSignal("read"), .expectBytes(count), .reply(), .stall)
        try await withPool(plan) { stage in
            let made = try stage.exchange(.put, content: .bytes([UInt8](repeating: 7, count: count)))
            stage.pool.submit(made.exchange)
            await stage.origin.gate("head").wait()
            made.exchange.setSuspended(true)
            await stage.settle()
            let before = made.sink.log.value.sent
            stage.origin.gate("read").open()
            // The peer reads now, but nothing more is sent.
            for _ in 0..<20 { await stage.settle() }
            #expect(made.sink.log.value.sent == before && before < Int64(count))
            made.exchange.setSuspended(false)
            await made.sink.ended.wait()
            #expect(made.sink.failure == nil && made.sink.log.value.sent == Int64(count))
        }
    }

    enum Place: CaseIterable { case unsent, parked, waiting, running }

    @Test(arguments: Place.allCases) func cancelledWhileSuspended(_ place: Place) async throws {
        let plan = ScriptPlan(.expectHead, .signal("head"), .stall)
        try await withPool(plan, limits: PoolLimits(perHost: 1)) { stage in
            let made = try stage.exchange()
            let other = try stage.exchange()
            if place == .waiting {
                stage.pool.submit(other.exchange)
                await stage.origin.gate("head").wait()
            }
            if place != .running { made.exchange.setSuspended(true) }
            stage.pool.submit(made.exchange)
            switch place {
            case .unsent, .waiting: break
            case .parked: while stage.pool.idleCount == 0 { await Task.yield() }
            case .running:
                await stage.origin.gate("head").wait()
                made.exchange.setSuspended(true)
            }
            made.exchange.cancel()
            await made.sink.ended.wait()
            #expect(made.sink.failure == .cancelled)
            other.exchange.cancel()
            if place == .waiting { await other.sink.ended.wait() }
        }
    }

    @Test func noTimeCountsButTheWhole() async throws {
        let clock = ManualClock()
        let plan = ScriptPlan(.expectHead, .signal("head"), .waitForSignal("go"), .reply(), .stall)
        try await withPool(plan, clock: clock) { stage in
            var options = ExchangeOptions()
            options.timeouts = TransferTimeouts(firstByte: .seconds(5), idle: .seconds(5))
            let made = try stage.exchange(options: options)
            stage.pool.submit(made.exchange)
            await stage.origin.gate("head").wait()
            made.exchange.setSuspended(true)
            await stage.settle()
            clock.advance(by: .seconds(600))
            for loop in stage.group.loops { loop.wake() }
            await stage.settle()
            #expect(made.sink.log.value.ends == 0)
            made.exchange.setSuspended(false)
            stage.origin.gate("go").open()
            await made.sink.ended.wait()
            #expect(made.sink.failure == nil)
        }
    }
}
