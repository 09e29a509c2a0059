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
    @Test("[H-12.3] requests that come together share one connection", arguments: [1, 3])
    func oneConnectionForAll(_ loops: Int) async throws {
        try await withPool(over: .http2, loops: loops, clock: ManualClock()) { stage in
            let made = try (0..<64).map { _ in try stage.exchange(target: "/get") }
            for one in made { stage.pool.submit(one.exchange) }
            for one in made {
                await one.sink.ended.wait()
                #expect(one.sink.failure == nil)
            }
            #expect(stage.pool.connectionsOpened == 1)
        }
    }

    /// The first peer allows a single stream, the second as many as the client assumes before it knows its peer's settings.
    @Test("[H-12.1] each connection tells what its own peer allows", arguments: [100, 256])
    func whatThePeerAllowsIsAlwaysTold(_ streams: Int) async throws {
        let one = ServerFrames([Setting(.maxConcurrentStreams, 1)])
        let many = ServerFrames([Setting(.maxConcurrentStreams, UInt32(streams))])
        let plan = ScriptPlan([
            Script([
                .expectRequest(1), .send(one.reply(1)), .expectRequest(3), .signal("asked"),
                .waitForSignal("go"), .send(ServerFrames.bare.reply(3).goAway(last: 3)), .expectEnd,
            ]),
            Script([
                .expectRequest(1), .send(many), .expectRequest(3),
                .send(ServerFrames.bare.reply(1).reply(3)), .stall,
            ]),
        ])
        try await withPool(plan, over: .http2, limits: PoolLimits(perHost: 1)) { stage in
            try await stage.send()
            let made = try (0..<3).map { _ in try stage.exchange() }
            for one in made { stage.pool.submit(one.exchange) }
            await stage.origin.gate("asked").wait()
            #expect(stage.pool.connectionsOpened == 1)
            stage.origin.gate("go").open()
            for one in made {
                await one.sink.ended.wait()
                #expect(one.sink.failure == nil, "\(String(describing: one.sink.failure))")
            }
            #expect(stage.pool.connectionsOpened == 2)
        }
    }

    @Test("[H-12.1] requests wait until a peer takes them")
    func aPeerThatTakesNoneForAWhile() async throws {
        let none = ServerFrames([Setting(.maxConcurrentStreams, 0)])
        let plan = ScriptPlan(
            .expectRequest(1), .send(none), .send(ServerFrames.bare.reply(1)), .waitForSignal("open"),
            .send(ServerFrames.bare.settings([Setting(.maxConcurrentStreams, 1)])), .expectRequest(3),
            .send(ServerFrames.bare.reply(3)), .stall)
        try await withPool(plan, over: .http2, limits: PoolLimits(perHost: 1)) { stage in
            try await stage.send(.post)
            let made = try stage.exchange(.post)
            stage.pool.submit(made.exchange)
            await stage.settle()
            #expect(made.sink.log.value.ends == 0)
            stage.origin.gate("open").open()
            await made.sink.ended.wait()
            #expect(made.sink.failure == nil && made.sink.metrics?.wasReplayed == false)
        }
    }

    @Test("[H-12.2] a long response behind GOAWAY does not keep others waiting")
    func aLongResponseBehindGoAway() async throws {
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
            await long.sink.headCame.wait()
            #expect(try await stage.send().text == "second")
            stage.origin.gate("rest").open()
            await long.sink.ended.wait()
            #expect(long.sink.failure == nil && long.sink.text == "late")
        }
    }
}
