// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineHTTP2
import LupineOrigin
import LupineTestKit
import Testing

@testable import LupineTransport

/// Connections whose peers are gone without closing, and peers that are merely slow.
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
            let made = try stage.exchange(method)
            stage.pool.submit(made.exchange)
            try await body(stage, clock, made.sink)
        }
    }

    private func pass(_ seconds: Int, _ stage: PoolStage, _ clock: ManualClock) async {
        await stage.settle()
        clock.advance(by: .seconds(seconds))
        stage.group.loops[0].wake()
        await stage.settle()
    }

    @Test(
        "[H-12.9] a peer that says nothing is given up, and what may be sent again is",
        arguments: [Method.get, .post])
    func gone(_ method: Method) async throws {
        try await withSilence(method, then: [.expectFrame(type: 6, stream: 0), .signal("asked"), .stall]) {
            stage, clock, sink in
            await stage.origin.gate("asked").wait()
            await pass(5, stage, clock)
            #expect(sink.log.value.ends == 0)
            await pass(5, stage, clock)
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

    @Test("[H-12.9] while a peer is doubtful, other requests have another connection")
    func doubtful() async throws {
        let frames = ServerFrames.bare.frame(6, flags: 1, 0, [UInt8](repeating: 0, count: 8)).reply(3, "late")
        try await withSilence(
            .post,
            then: [
                .expectFrame(type: 6, stream: 0), .signal("asked"), .waitForSignal("answer"), .send(frames),
                .expectEnd, .signal("closed"),
            ]
        ) { stage, clock, sink in
            await stage.origin.gate("asked").wait()
            await pass(5, stage, clock)
            let second = try await stage.send()
            #expect(second.text == "second")
            #expect(sink.log.value.ends == 0)
            stage.origin.gate("answer").open()
            await sink.ended.wait()
            #expect(sink.failure == nil && sink.text == "late")
            await pass(5, stage, clock)
            let third = try await stage.send()
            #expect(third.text == "third")
            await stage.origin.gate("closed").wait()
            #expect(stage.pool.connectionsOpened == 2)
        }
    }

    @Test("[H-12.9] a peer that answers no PING and sends something else is there") func slow() async throws {
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
            await sink.headCame.wait()
            for _ in 0..<12 { await pass(5, stage, clock) }
            #expect(sink.log.value.ends == 0)
            stage.origin.gate("rest").open()
            await sink.ended.wait()
            #expect(sink.failure == nil && sink.text == "all")
            #expect(stage.pool.connectionsOpened == 1)
        }
    }

    @Test("[H-12.8] a peer that was heard a moment ago is not asked") func recentlyHeard() async throws {
        try await withSilence(
            before: .seconds(14), then: [.send(ServerFrames.bare.reply(3, "at once")), .stall]
        ) { stage, _, sink in
            await sink.ended.wait()
            #expect(sink.text == "at once")
            #expect(HTTP2PriorityTests.frames(stage.origin.received(on: 0)).allSatisfy { $0.type != 6 })
        }
    }

    @Test("[H-12.8] the question goes behind the head of the request, once") func question() async throws {
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

    @Test("[H-12.9] a question that is open ends with its connection") func endOfConnection() async throws {
        try await withSilence(.post, then: [.expectFrame(type: 6, stream: 0), .close]) { stage, clock, sink in
            await sink.ended.wait()
            #expect(sink.failure != nil && sink.log.value.ends == 1)
            await pass(5, stage, clock)
            await pass(5, stage, clock)
            let second = try await stage.send()
            #expect(second.text == "second")
        }
    }
}
