// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineHTTP2
import LupineOrigin
import LupineTestKit
import Testing

@testable import LupineTransport

/// Peers that have disappeared without closing their connections, and peers that are only slow.
@Suite(.timeLimit(.minutes(30))) struct HTTP2LivenessTests {
    /// Runs `body` with a server that answers a first request, is silent for a time, and performs `then` after a second request.
    /// The next connection answers everything.
    private func withSilence(
        _ method: Method = .get, before: Interval = .seconds(20), then: [Script.Step],
        _ body: (PoolStage, ManualClock, RecordingSink) async throws -> Void
    ) async throws {
        let clock = ManualClock()
        let plan = ScriptPlan([
            Script(
                [
                    .expectRequest(1), .send(ServerFrames().reply().settings()), .expectAcknowledgement,
                    .expectAcknowledgement, .expectRequest(3),
                ] + then),
            Script([
                .expectRequest(1), .send(ServerFrames().reply(1, "second")), .expectRequest(3),
                .send(ServerFrames.bare.reply(3, "third")), .stall,
            ]),
        ])
        try await withPool(plan, over: .http2, limits: PoolLimits(perHost: 1), clock: clock) { stage in
            try await stage.send()
            clock.advance(by: .nanoseconds(before.nanoseconds))
            stage.group.loops[0].wake()
            await stage.settle()
            let pair = try stage.exchange(method)
            stage.pool.submit(pair.exchange)
            try await body(stage, clock, pair.sink)
        }
    }

    private func advance(_ seconds: Int, _ stage: PoolStage, _ clock: ManualClock) async {
        await stage.settle()
        clock.advance(by: .seconds(seconds))
        stage.group.loops[0].wake()
        await stage.settle()
    }

    @Test(
        "[H-12.9] the connection of a silent peer ends, and requests are replayed if allowed",
        arguments: [Method.get, .post])
    func silentPeer(_ method: Method) async throws {
        try await withSilence(method, then: [.expectFrame(type: 6, stream: 0), .signal("asked"), .stall]) {
            stage, clock, sink in
            await stage.origin.gate("asked").wait()
            await advance(5, stage, clock)
            #expect(sink.log.value.ends == 0)
            await advance(5, stage, clock)
            await sink.ended.wait()
            if method == .get {
                #expect(sink.failure == nil && sink.text == "second")
                #expect(sink.metrics?.wasReplayed == true)
            } else {
                #expect(sink.failure == .http2(host: "origin.test", port: stage.origin.port, .silent))
            }
            #expect(stage.pool.connectionsOpened == (method == .get ? 2 : 1))
        }
    }

    @Test("[H-12.9] while a PING is unanswered, other requests use another connection")
    func unansweredPing() async throws {
        let frames = ServerFrames.bare.frame(6, flags: 1, 0, [UInt8](repeating: 0, count: 8)).reply(3, "late")
        try await withSilence(
            .post,
            then: [
                .expectFrame(type: 6, stream: 0), .signal("asked"), .waitForSignal("answer"), .send(frames),
                .expectEnd, .signal("closed"),
            ]
        ) { stage, clock, sink in
            await stage.origin.gate("asked").wait()
            await advance(5, stage, clock)
            let second = try await stage.send()
            #expect(second.text == "second")
            #expect(sink.log.value.ends == 0)
            stage.origin.gate("answer").open()
            await sink.ended.wait()
            #expect(sink.failure == nil && sink.text == "late")
            await advance(5, stage, clock)
            let third = try await stage.send()
            #expect(third.text == "third")
            await stage.origin.gate("closed").wait()
            #expect(stage.pool.connectionsOpened == 2)
        }
    }

    @Test("[H-12.9] a peer that sends frames but no PING answer is alive") func slowPeer() async throws {
        try await withSilence(
            .post,
            then: [
                .expectFrame(type: 6, stream: 0), .signal("asked"), .waitForSignal("head"),
                .send(ServerFrames.bare.head(3)), .waitForSignal("rest"),
                .send(ServerFrames.bare.data(3, "all", ends: true)), .stall,
            ]
        ) { stage, clock, sink in
            await stage.origin.gate("asked").wait()
            await stage.settle()
            stage.origin.gate("head").open()
            await sink.headReceived.wait()
            for _ in 0..<12 { await advance(5, stage, clock) }
            #expect(sink.log.value.ends == 0)
            stage.origin.gate("rest").open()
            await sink.ended.wait()
            #expect(sink.failure == nil && sink.text == "all")
            #expect(stage.pool.connectionsOpened == 1)
        }
    }

    @Test("[H-12.8] a peer that sent something recently gets no PING") func recentlyHeard() async throws {
        try await withSilence(
            before: .seconds(14), then: [.send(ServerFrames.bare.reply(3, "at once")), .stall]
        ) { stage, _, sink in
            await sink.ended.wait()
            #expect(sink.text == "at once")
            #expect(HTTP2PriorityTests.frames(stage.origin.received(on: 0)).allSatisfy { $0.type != 6 })
        }
    }

    @Test("[H-12.8] one PING follows the head of the request") func pingAfterTheHead() async throws {
        try await withSilence(then: [
            .expectFrame(type: 6, stream: 0), .expectRequest(5),
            .send(ServerFrames.bare.reply(3).reply(5)), .stall,
        ]) { stage, _, sink in
            let other = try await stage.send()
            await sink.ended.wait()
            #expect(sink.failure == nil && other.failure == nil)
            let sent = HTTP2PriorityTests.frames(stage.origin.received(on: 0)).map(\.type)
            // Without the frames for settings and windows.
            #expect(sent.filter { $0 == 1 || $0 == 6 } == [1, 1, 6, 1])
        }
    }

    @Test("[H-12.9] an unanswered PING ends with its connection") func endOfConnection() async throws {
        try await withSilence(.post, then: [.expectFrame(type: 6, stream: 0), .close]) { stage, clock, sink in
            await sink.ended.wait()
            #expect(sink.failure != nil && sink.log.value.ends == 1)
            await advance(5, stage, clock)
            await advance(5, stage, clock)
            let second = try await stage.send()
            #expect(second.text == "second")
        }
    }
}
