// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineHTTP2
import LupineOrigin
import LupineTestKit
import Testing

@testable import LupineTransport

/// Content kept for paused consumers does not delay other streams.
@Suite struct HTTP2WindowTests {
    /// More consumers pause than the connection's window has room for if each had a large window; another request is still
    /// answered.
    @Test func manyPausedConsumersDelayNoOther() async throws {
        try await withPool(over: .http2, limits: PoolLimits(perHost: 1)) { stage in
            try await stage.send(target: "/get")
            let paused = try (0..<90).map { _ in
                try stage.exchange(target: "/bytes/4000000", sink: RecordingSink(demand: { _ in .pause }))
            }
            for pair in paused { stage.pool.submit(pair.exchange) }
            for pair in paused { await pair.sink.headReceived.wait() }
            let sink = try await stage.send(target: "/bytes/4000000")
            #expect(sink.failure == nil && sink.log.value.body.count == 4_000_000)
            #expect(stage.pool.connectionsOpened == 1)
            for pair in paused { pair.exchange.cancel() }
            for pair in paused { await pair.sink.ended.wait() }
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
            for pair in grown { stage.pool.submit(pair.exchange) }
            for pair in grown {
                while pair.sink.log.value.body.count < 8 << 20 { await Task.yield() }
            }
            let sink = try await stage.send(target: "/bytes/4000000")
            #expect(sink.failure == nil && sink.log.value.body.count == 4_000_000)
            let largestCount = 8 * (8 << 20) + HTTP2Connection.connectionWindow + 5_000_000
            #expect(stage.origin.counts.bytesSent < largestCount)
            #expect(stage.pool.connectionsOpened == 1)
            for pair in grown { pair.exchange.cancel() }
            for pair in grown { await pair.sink.ended.wait() }
        }
    }

    /// What has arrived for a paused consumer comes in pieces like those of a read, and the consumer can pause after each.
    @Test("[U-7.2] held content is delivered in pieces that are no longer than a read")
    func heldContentComesInPieces() async throws {
        try await withPool(over: .http2) { stage in
            let consumed = 1 << 20
            let totals = Box([0])
            let sink = RecordingSink(demand: { total in
                totals.update { $0.append(total) }
                return total < consumed ? .more : .pause
            })
            let pair = try stage.exchange(target: "/bytes/\(3 * consumed)", sink: sink)
            stage.pool.submit(pair.exchange)
            // The window has grown while the consumer was fast.
            let sentCount = consumed + 4 * EventLoop.readBufferSize
            while stage.origin.counts.bytesSent < sentCount { await Task.yield() }
            await stage.settle()
            while sink.log.value.ends == 0 {
                pair.exchange.resume()
                await Task.yield()
            }
            #expect(sink.failure == nil && sink.log.value.body.count == 3 * consumed)
            let pieces = zip(totals.value, totals.value.dropFirst()).map { $1 - $0 }
            #expect(pieces.max() ?? 0 <= EventLoop.readBufferSize)
        }
    }

    /// A consumer that resumes is told that nothing more has arrived: it may have gathered something before it paused.
    @Test func aResumedConsumerIsToldThatItHasCaughtUp() async throws {
        let plan = ScriptPlan(.expectRequest(1), .send(ServerFrames().head().data(1, "abc")), .stall)
        try await withPool(plan, over: .http2) { stage in
            let pair = try stage.exchange(target: "/", sink: RecordingSink(demand: { _ in .pause }))
            stage.pool.submit(pair.exchange)
            while pair.sink.text != "abc" { await Task.yield() }
            await stage.settle()
            #expect(pair.sink.log.value.caughtUps == 0)
            pair.exchange.resume()
            while pair.sink.log.value.caughtUps == 0 { await Task.yield() }
            pair.exchange.cancel()
            await pair.sink.ended.wait()
        }
    }

    /// A suspended exchange reports nothing: no interim head, no head, no content.
    @Test func aSuspendedExchangeIsToldNothing() async throws {
        let frames = ServerFrames().head(1, "103", [("link", "</a>")]).reply(1, "later")
        let plan = ScriptPlan(
            .expectRequest(1), .signal("asked"), .waitForSignal("answer"), .send(frames),
            .expectAcknowledgement, .signal("answered"), .stall)
        try await withPool(plan, over: .http2) { stage in
            let pair = try stage.exchange(target: "/")
            stage.pool.submit(pair.exchange)
            await stage.origin.gate("asked").wait()
            pair.exchange.setSuspended(true)
            await stage.settle()
            stage.origin.gate("answer").open()
            await stage.origin.gate("answered").wait()
            await stage.settle()
            #expect(pair.sink.log.value.order.isEmpty)
            pair.exchange.setSuspended(false)
            await pair.sink.ended.wait()
            #expect(pair.sink.log.value.order == ["interim", "head", "content", "end"])
            #expect(pair.sink.failure == nil && pair.sink.text == "later")
        }
    }

    /// While received content waits because of the rate limit, the peer does not count as silent.
    @Test func aRateLimitIsNotMistakenForSilence() async throws {
        let clock = ManualClock()
        try await withPool(over: .http2, clock: clock) { stage in
            var options = ExchangeOptions()
            options.receiveRate = 1_000
            options.timeouts.idleRead = .seconds(3)
            let pair = try stage.exchange(target: "/bytes/20000", options: options)
            stage.pool.submit(pair.exchange)
            while stage.origin.counts.bytesSent < 20_000 { await stage.settle() }
            while pair.sink.log.value.ends == 0 {
                await stage.settle()
                clock.advance(by: .seconds(1))
                for loop in stage.group.loops { loop.wake() }
            }
            #expect(pair.sink.failure == nil && pair.sink.log.value.body.count == 20_000)
        }
    }

    /// A head over the limit fails its exchange; the connection carries the next one.
    @Test("[H-11.12, U-9.5] a head over the limit fails only its exchange, as over HTTP/1.1")
    func aLongHeadFailsOnlyItsExchange() async throws {
        let longValue = String(repeating: "x", count: 20_000)
        let limit = ParserLimits().headBytes
        let fields = (0...(limit / 20_000)).map { ("x-\($0)", longValue) }
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
