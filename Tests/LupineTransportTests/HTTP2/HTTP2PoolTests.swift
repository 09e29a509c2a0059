// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineHTTP2
import LupineOrigin
import LupineTestKit
import Testing

@testable import LupineTransport

/// The pool with connections that carry several exchanges, against a real server.
@Suite(.timeLimit(.minutes(10))) struct HTTP2PoolTests {
    /// The clock stands still, so the requests wait for the first dial however long it takes.
    @Test("[H-12.3] requests that are submitted together share one connection", arguments: [1, 3])
    func oneConnectionForAll(_ loops: Int) async throws {
        try await withPool(over: .http2, loops: loops, clock: ManualClock()) { stage in
            let pairs = try (0..<64).map { _ in try stage.exchange(target: "/get") }
            for pair in pairs { stage.pool.submit(pair.exchange) }
            for pair in pairs {
                await pair.sink.ended.wait()
                #expect(pair.sink.failure == nil)
            }
            #expect(stage.pool.connectionsOpened == 1)
        }
    }

    /// The first peer allows a single stream, the second as many as the client assumes before it knows its peer's settings.
    @Test("[H-12.1] each connection reports the streams that its peer allows", arguments: [100, 256])
    func theAllowedStreamsAreReported(_ streams: Int) async throws {
        let oneStream = ServerFrames([Setting(.maxConcurrentStreams, 1)])
        let manyStreams = ServerFrames([Setting(.maxConcurrentStreams, UInt32(streams))])
        let plan = ScriptPlan([
            Script([
                .expectRequest(1), .send(oneStream.reply(1)), .expectRequest(3), .signal("asked"),
                .waitForSignal("go"), .send(ServerFrames.bare.reply(3).goAway(last: 3)), .expectEnd,
            ]),
            Script([
                .expectRequest(1), .send(manyStreams), .expectRequest(3),
                .send(ServerFrames.bare.reply(1).reply(3)), .stall,
            ]),
        ])
        try await withPool(plan, over: .http2, limits: PoolLimits(perHost: 1)) { stage in
            try await stage.send()
            let pairs = try (0..<3).map { _ in try stage.exchange() }
            for pair in pairs { stage.pool.submit(pair.exchange) }
            await stage.origin.gate("asked").wait()
            #expect(stage.pool.connectionsOpened == 1)
            stage.origin.gate("go").open()
            for pair in pairs {
                await pair.sink.ended.wait()
                #expect(pair.sink.failure == nil, "\(String(describing: pair.sink.failure))")
            }
            #expect(stage.pool.connectionsOpened == 2)
        }
    }

    @Test("[H-12.1] requests wait until the peer allows streams")
    func aPeerThatAllowsNoStreamAtFirst() async throws {
        let noStreams = ServerFrames([Setting(.maxConcurrentStreams, 0)])
        let plan = ScriptPlan(
            .expectRequest(1), .send(noStreams), .send(ServerFrames.bare.reply(1)), .waitForSignal("open"),
            .send(ServerFrames.bare.settings([Setting(.maxConcurrentStreams, 1)])), .expectRequest(3),
            .send(ServerFrames.bare.reply(3)), .stall)
        try await withPool(plan, over: .http2, limits: PoolLimits(perHost: 1)) { stage in
            try await stage.send(.post)
            let pair = try stage.exchange(.post)
            stage.pool.submit(pair.exchange)
            await stage.settle()
            #expect(pair.sink.log.value.ends == 0)
            stage.origin.gate("open").open()
            await pair.sink.ended.wait()
            #expect(pair.sink.failure == nil && pair.sink.metrics?.wasReplayed == false)
        }
    }

    @Test("[H-12.2] a long response after GOAWAY does not keep others waiting")
    func aLongResponseAfterGoAway() async throws {
        let plan = ScriptPlan([
            Script([
                .expectRequest(1), .send(ServerFrames().head(1).goAway(last: 1)), .waitForSignal("rest"),
                .send(ServerFrames.bare.data(1, "late", ends: true)), .expectEnd,
            ]),
            Script([.expectRequest(1), .send(ServerFrames().reply(1, "second")), .stall]),
        ])
        try await withPool(plan, over: .http2, limits: PoolLimits(perHost: 1)) { stage in
            let long = try stage.exchange()
            stage.pool.submit(long.exchange)
            await long.sink.headReceived.wait()
            #expect(try await stage.send().text == "second")
            stage.origin.gate("rest").open()
            await long.sink.ended.wait()
            #expect(long.sink.failure == nil && long.sink.text == "late")
        }
    }
}
