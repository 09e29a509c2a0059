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
            let pair = try stage.exchange(sink: sink)
            stage.pool.submit(pair.exchange)
            await sink.headReceived.wait()
            pair.exchange.setSuspended(true)
            await stage.settle()
            stage.origin.gate("more").open()
            await stage.origin.gate("sent").wait()
            await stage.settle()
            #expect(sink.text == "abc" && sink.log.value.ends == 0)
            pair.exchange.setSuspended(false)
            await sink.ended.wait()
            #expect(sink.text == "abcdef" && sink.failure == nil)
        }
    }

    /// Suspends the exchange between two chunks of one read: the second chunk is not delivered.
    @Test(arguments: [false, true]) func suspendedByItsOwnConsumer(_ atHead: Bool) async throws {
        let plan = ScriptPlan(
            .expectHead,
            .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n2\r\ncd\r\n0\r\n\r\n"),
            .stall)
        try await withPool(plan) { stage in
            let running = Box<Exchange?>(nil)
            let suspend = { @Sendable in running.value?.setSuspended(true) }
            let suspended = Gate()
            let sink = RecordingSink(
                plan: {
                    if atHead { suspend() }
                    if atHead { suspended.open() }
                    return .deliver
                },
                demand: { count in
                    if !atHead, count == 2 { suspend() }
                    if !atHead, count == 2 { suspended.open() }
                    return .more
                })
            let pair = try stage.exchange(sink: sink)
            running.update { $0 = pair.exchange }
            stage.pool.submit(pair.exchange)
            await suspended.wait()
            await stage.settle()
            #expect(sink.text == (atHead ? "" : "ab"))
            pair.exchange.setSuspended(false)
            await sink.ended.wait()
            running.update { $0 = nil }
            #expect(sink.text == "abcd" && sink.failure == nil && sink.log.value.ends == 1)
        }
    }

    @Test func aPausedAndSuspendedExchangeMustBeResumedTwice() async throws {
        let plan = ScriptPlan(.expectHead, .send(Self.page + "def"), .stall)
        try await withPool(plan) { stage in
            let sink = RecordingSink(plan: { .pause })
            let pair = try stage.exchange(sink: sink)
            stage.pool.submit(pair.exchange)
            await sink.headReceived.wait()
            pair.exchange.setSuspended(true)
            pair.exchange.resume()
            await stage.settle()
            #expect(sink.text == "")
            pair.exchange.setSuspended(false)
            await sink.ended.wait()
            #expect(sink.text == "abcdef" && sink.failure == nil)
        }
    }

    @Test func aSuspendedExchangeSendsNothingAndReturnsItsConnection() async throws {
        let plan = ScriptPlan(.expectHead, .reply("late"), .stall)
        try await withPool(plan) { stage in
            let pair = try stage.exchange()
            pair.exchange.setSuspended(true)
            stage.pool.submit(pair.exchange)
            // The connection is established, and returns to the pool unused.
            while stage.pool.idleCount == 0 { await Task.yield() }
            await stage.settle()
            #expect(pair.sink.log.value.order.isEmpty)
            pair.exchange.setSuspended(false)
            await pair.sink.ended.wait()
            #expect(pair.sink.text == "late" && stage.pool.connectionsOpened == 1)
        }
    }

    @Test func aSuspendedUploadSendsNothing() async throws {
        let count = 32 << 20
        let plan = ScriptPlan(
            .expectHead, .signal("head"), .waitForSignal("read"), .expectBytes(count), .reply(), .stall)
        try await withPool(plan) { stage in
            let pair = try stage.exchange(.put, content: .bytes([UInt8](repeating: 7, count: count)))
            stage.pool.submit(pair.exchange)
            await stage.origin.gate("head").wait()
            pair.exchange.setSuspended(true)
            await stage.settle()
            let before = pair.sink.log.value.sent
            stage.origin.gate("read").open()
            // The peer reads now, but nothing more is sent.
            for _ in 0..<20 { await stage.settle() }
            #expect(pair.sink.log.value.sent == before && before < Int64(count))
            pair.exchange.setSuspended(false)
            await pair.sink.ended.wait()
            #expect(pair.sink.failure == nil && pair.sink.log.value.sent == Int64(count))
        }
    }

    /// The phase of an exchange in which it is cancelled.
    enum Phase: CaseIterable { case unsent, parked, waiting, running }

    @Test(arguments: Phase.allCases) func cancelledWhileSuspended(_ phase: Phase) async throws {
        let plan = ScriptPlan(.expectHead, .signal("head"), .stall)
        try await withPool(plan, limits: PoolLimits(perHost: 1)) { stage in
            let pair = try stage.exchange()
            let other = try stage.exchange()
            if phase == .waiting {
                stage.pool.submit(other.exchange)
                await stage.origin.gate("head").wait()
            }
            if phase != .running { pair.exchange.setSuspended(true) }
            stage.pool.submit(pair.exchange)
            switch phase {
            case .unsent, .waiting: break
            case .parked: while stage.pool.idleCount == 0 { await Task.yield() }
            case .running:
                await stage.origin.gate("head").wait()
                pair.exchange.setSuspended(true)
            }
            pair.exchange.cancel()
            await pair.sink.ended.wait()
            #expect(pair.sink.failure == .cancelled)
            other.exchange.cancel()
            if phase == .waiting { await other.sink.ended.wait() }
        }
    }

    @Test func onlyTheWholeTimeoutContinues() async throws {
        let clock = ManualClock()
        let plan = ScriptPlan(.expectHead, .signal("head"), .waitForSignal("go"), .reply(), .stall)
        try await withPool(plan, clock: clock) { stage in
            var options = ExchangeOptions()
            options.timeouts = TransferTimeouts(firstByte: .seconds(5), idle: .seconds(5))
            let pair = try stage.exchange(options: options)
            stage.pool.submit(pair.exchange)
            await stage.origin.gate("head").wait()
            pair.exchange.setSuspended(true)
            await stage.settle()
            clock.advance(by: .seconds(600))
            for loop in stage.group.loops { loop.wake() }
            await stage.settle()
            #expect(pair.sink.log.value.ends == 0)
            pair.exchange.setSuspended(false)
            stage.origin.gate("go").open()
            await pair.sink.ended.wait()
            #expect(pair.sink.failure == nil)
        }
    }
}
