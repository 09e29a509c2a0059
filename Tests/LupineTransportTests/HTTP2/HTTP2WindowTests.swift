// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineHTTP2
import LupineOrigin
import LupineTestKit
import Testing

@testable import LupineTransport

/// Content kept for consumers that pause does not hold up other streams.
@Suite struct HTTP2WindowTests {
    /// More consumers pause than the connection's window has room for if each had a large window; another request is still
    /// answered.
    @Test func manyThatPauseHoldUpNobody() async throws {
        try await withPool(over: .http2, limits: PoolLimits(perHost: 1)) { stage in
            try await stage.send(target: "/get")
            let paused = try (0..<90).map { _ in
                try stage.exchange(target: "/bytes/4000000", sink: RecordingSink(demand: { _ in .pause }))
            }
            for one in paused { stage.pool.submit(one.exchange) }
            for one in paused { await one.sink.headCame.wait() }
            let sink = try await stage.send(target: "/bytes/4000000")
            #expect(sink.failure == nil && sink.log.value.body.count == 4_000_000)
            #expect(stage.pool.connectionsOpened == 1)
            for one in paused { one.exchange.cancel() }
            for one in paused { await one.sink.ended.wait() }
        }
    }

    /// Streams whose consumers kept up have large windows; when the consumers pause, the content kept stays within the
    /// connection's window.
    @Test func windowsThatHaveGrownStayWithinTheConnections() async throws {
        try await withPool(over: .http2, limits: PoolLimits(perHost: 1)) { stage in
            let length = 64 << 20
            let grown = try (0..<8).map { _ in
                try stage.exchange(
                    target: "/bytes/\(length)",
                    sink: RecordingSink(demand: { $0 < 8 << 20 ? .more : .pause }))
            }
            for one in grown { stage.pool.submit(one.exchange) }
            for one in grown {
                while one.sink.log.value.body.count < 8 << 20 { await Task.yield() }
            }
            let sink = try await stage.send(target: "/bytes/4000000")
            #expect(sink.failure == nil && sink.log.value.body.count == 4_000_000)
            let most = 8 * (8 << 20) + HTTP2Connection.connectionWindow + 5_000_000
            #expect(stage.origin.counts.bytesSent < most)
            #expect(stage.pool.connectionsOpened == 1)
            for one in grown { one.exchange.cancel() }
            for one in grown { await one.sink.ended.wait() }
        }
    }

    /// A consumer that resumes is told that nothing more has arrived: it may have gathered something before it paused.
    @Test func whoGoesOnIsToldThatNothingMoreIsHere() async throws {
        let plan = ScriptPlan(.expectRequest(1), .send(ServerFrames().head().data(1, "abc")), .stall)
        try await withPool(plan, over: .http2) { stage in
            let made = try stage.exchange(target: "/", sink: RecordingSink(demand: { _ in .pause }))
            stage.pool.submit(made.exchange)
            while made.sink.text != "abc" { await Task.yield() }
            await stage.settle()
            #expect(made.sink.log.value.caughtUps == 0)
            made.exchange.resume()
            while made.sink.log.value.caughtUps == 0 { await Task.yield() }
            made.exchange.cancel()
            await made.sink.ended.wait()
        }
    }

    /// A suspended exchange reports nothing: no interim head, no head, no content.
    @Test func aSuspendedExchangeIsToldNothing() async throws {
        let frames = ServerFrames().head(1, "103", [("link", "</a>")]).reply(1, "later")
        let plan = ScriptPlan(
            .expectRequest(1), .signal("asked"), .waitForSignal("answer"), .send(frames),
            .expectAcknowledgement, .signal("answered"), .stall)
        try await withPool(plan, over: .http2) { stage in
            let made = try stage.exchange(target: "/")
            stage.pool.submit(made.exchange)
            await stage.origin.gate("asked").wait()
            made.exchange.setSuspended(true)
            await stage.settle()
            stage.origin.gate("answer").open()
            await stage.origin.gate("answered").wait()
            await stage.settle()
            #expect(made.sink.log.value.order.isEmpty)
            made.exchange.setSuspended(false)
            await made.sink.ended.wait()
            #expect(made.sink.log.value.order == ["interim", "head", "content", "end"])
            #expect(made.sink.failure == nil && made.sink.text == "later")
        }
    }

    /// Content that has arrived, and waits because of the rate, does not count as silence of the peer.
    @Test func aRateIsNoSilence() async throws {
        let clock = ManualClock()
        try await withPool(over: .http2, clock: clock) { stage in
            var options = ExchangeOptions()
            options.receiveRate = 1_000
            options.timeouts.idleRead = .seconds(3)
            let made = try stage.exchange(target: "/bytes/20000", options: options)
            stage.pool.submit(made.exchange)
            while stage.origin.counts.bytesSent < 20_000 { await stage.settle() }
            while made.sink.log.value.ends == 0 {
                await stage.settle()
                clock.advance(by: .seconds(1))
                for loop in stage.group.loops { loop.wake() }
            }
            #expect(made.sink.failure == nil && made.sink.log.value.body.count == 20_000)
        }
    }

    /// A head over the limit fails its exchange; the connection carries the next one.
    @Test("[H-11.12, U-9.5] a head over the limit costs its stream only, and fails as over HTTP/1.1")
    func aLongHeadCostsItsStreamOnly() async throws {
        let long = String(repeating: "x", count: 20_000)
        let limit = ParserLimits().headBytes
        let fields = (0...(limit / 20_000)).map { ("x-\($0)", long) }
        let plan = ScriptPlan(
            .expectRequest(1), .send(ServerFrames().head(1, "200", fields, ends: true)),
            .expectRequest(3), .send(ServerFrames.bare.reply(3)), .stall)
        try await withPool(plan, over: .http2) { stage in
            let sink = try await stage.send(target: "/")
            #expect(
                sink.failure
                    == .http(
                        host: "origin.test", port: stage.origin.port,
                        .limitExceeded(.headBytes, allowed: limit)))
            #expect(try await stage.send(target: "/").text == "ok")
            #expect(stage.pool.connectionsOpened == 1)
        }
    }
}
