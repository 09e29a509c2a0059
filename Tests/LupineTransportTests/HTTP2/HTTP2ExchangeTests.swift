// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineHTTP2
import LupineOrigin
import LupineTestKit
import Testing

@testable import LupineTransport

/// Many exchanges on one connection: each ends by itself, and none holds up another.
@Suite struct HTTP2ExchangeTests {
    @Test func manyAtOnceShareAConnection() async throws {
        try await withPool(over: .http2, limits: PoolLimits(perHost: 1)) { stage in
            let gate = Gate()
            stage.origin.route("GET", "/held/{name}") { request throws(Refusal) in
                var response = OriginResponse(body: .bytes(Array(request.parameters[0].utf8)))
                response.gate = gate
                return response
            }
            let made = try (0..<60).map { try stage.exchange(target: "/held/\($0)") }
            for one in made { stage.pool.submit(one.exchange) }
            while stage.origin.counts.requests < 60 { await Task.yield() }
            gate.open()
            for (number, one) in made.enumerated() {
                await one.sink.ended.wait()
                #expect(one.sink.failure == nil && one.sink.text == "\(number)")
                #expect(one.sink.metrics?.version == .http2)
            }
            #expect(stage.pool.connectionsOpened == 1 && stage.pool.idleCount == 1)
        }
    }

    @Test func asManyAsThePeerAllows() async throws {
        var behaviour = HTTP2Behaviour()
        behaviour.streams = 2
        try await withPool(over: .http2, http2: behaviour, limits: PoolLimits(perHost: 1)) { stage in
            try await stage.send(target: "/get")
            let gate = Gate()
            stage.origin.route("GET", "/held") { _ throws(Refusal) in
                var response = OriginResponse(200)
                response.gate = gate
                return response
            }
            let made = try (0..<20).map { _ in try stage.exchange(target: "/held") }
            for one in made { stage.pool.submit(one.exchange) }
            while stage.origin.counts.requests < 3 { await Task.yield() }
            await stage.settle()
            #expect(stage.origin.counts.requests == 3)
            gate.open()
            for one in made {
                await one.sink.ended.wait()
                #expect(one.sink.failure == nil && one.sink.metrics?.wasReplayed == false)
            }
            #expect(stage.pool.connectionsOpened == 1)
        }
    }

    @Test func oneThatIsCancelledTakesNobodyAlong() async throws {
        try await withPool(over: .http2, limits: PoolLimits(perHost: 1)) { stage in
            let gate = Gate()
            stage.origin.route("GET", "/held") { _ throws(Refusal) in
                var response = OriginResponse(body: .bytes(Array("late".utf8)))
                response.gate = gate
                return response
            }
            let made = try (0..<3).map { _ in try stage.exchange(target: "/held") }
            for one in made { stage.pool.submit(one.exchange) }
            while stage.origin.counts.requests < 3 { await Task.yield() }
            made[1].exchange.cancel()
            await made[1].sink.ended.wait()
            #expect(made[1].sink.failure == .cancelled)
            gate.open()
            for index in [0, 2] {
                await made[index].sink.ended.wait()
                #expect(made[index].sink.text == "late" && made[index].sink.failure == nil)
            }
            #expect(try await stage.send(target: "/get").failure == nil)
            #expect(stage.pool.connectionsOpened == 1)
        }
    }

    @Test func oneThatTakesTooLongTakesNobodyAlong() async throws {
        let clock = ManualClock()
        try await withPool(over: .http2, limits: PoolLimits(perHost: 1), clock: clock) { stage in
            let gate = Gate()
            stage.origin.route("GET", "/held") { _ throws(Refusal) in
                var response = OriginResponse(body: .bytes(Array("late".utf8)))
                response.gate = gate
                return response
            }
            var options = ExchangeOptions()
            options.timeouts.firstByte = .seconds(1)
            let hasty = try stage.exchange(target: "/held", options: options)
            let patient = try stage.exchange(target: "/held")
            stage.pool.submit(hasty.exchange)
            stage.pool.submit(patient.exchange)
            while stage.origin.counts.requests < 2 { await Task.yield() }
            await stage.settle()
            clock.advance(by: .seconds(2))
            stage.group.loops[0].wake()
            await hasty.sink.ended.wait()
            #expect(hasty.sink.failure?.isTimeOut(of: "origin.test", .firstByte) == true)
            gate.open()
            await patient.sink.ended.wait()
            #expect(patient.sink.text == "late" && patient.sink.failure == nil)
            #expect(stage.pool.connectionsOpened == 1)
        }
    }

    /// A consumer that takes nothing stops its stream when its window is full; 99 other requests are answered meanwhile.
    @Test func aSlowConsumerHoldsUpNobody() async throws {
        try await withPool(over: .http2, limits: PoolLimits(perHost: 1)) { stage in
            let length = 64 << 20
            let slow = try stage.exchange(
                target: "/bytes/\(length)", sink: RecordingSink(demand: { _ in .pause }))
            stage.pool.submit(slow.exchange)
            await slow.sink.headCame.wait()
            let quick = try (0..<99).map { _ in try stage.exchange(target: "/bytes/2000") }
            for one in quick { stage.pool.submit(one.exchange) }
            for one in quick {
                await one.sink.ended.wait()
                #expect(one.sink.failure == nil && one.sink.log.value.body.count == 2_000)
            }
            #expect(stage.origin.counts.bytesSent < 2 * FlowWindow.initial + 99 * 4_000)
            #expect(stage.pool.connectionsOpened == 1)
            slow.exchange.cancel()
            await slow.sink.ended.wait()
            #expect(try await stage.send(target: "/get").failure == nil)
        }
    }

    /// At most a window of content waits for a paused consumer, which receives all of it in order once it resumes.
    @Test func whatWasHeldComesInItsOrder() async throws {
        try await withPool(over: .http2) { stage in
            let content = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 / 13) }
            stage.origin.route("GET", "/content") { _ throws(Refusal) in OriginResponse(body: .bytes(content))
            }
            let running = Box<Exchange?>(nil)
            let sink = RecordingSink(demand: { count in
                guard count % 3 == 0 else { return .more }
                Task.detached { running.value?.resume() }
                return .pause
            })
            let made = try stage.exchange(target: "/content", sink: sink)
            running.update { $0 = made.exchange }
            stage.pool.submit(made.exchange)
            // Resuming has no effect before the pause, so it is repeated.
            while sink.log.value.ends == 0 {
                made.exchange.resume()
                await Task.yield()
            }
            running.update { $0 = nil }
            #expect(sink.failure == nil && sink.log.value.body == content)
        }
    }

    /// The response has arrived completely, its consumer has paused, and the server closes: the content is still delivered.
    @Test func whatIsWholeOutlivesTheConnection() async throws {
        let plan = ScriptPlan(
            .expectRequest(1), .send(ServerFrames().reply(1, "all of it")), .expectAcknowledgement,
            .signal("sent"), .close)
        try await withPool(plan, over: .http2) { stage in
            let made = try stage.exchange(sink: RecordingSink(plan: { .pause }))
            stage.pool.submit(made.exchange)
            await made.sink.headCame.wait()
            await stage.origin.gate("sent").wait()
            while stage.origin.counts.connectionsOpen > 0 { await Task.yield() }
            await stage.settle()
            #expect(made.sink.log.value.ends == 0)
            while made.sink.log.value.ends == 0 {
                made.exchange.resume()
                await Task.yield()
            }
            #expect(made.sink.failure == nil && made.sink.text == "all of it")
            await stage.settle()
            #expect(stage.pool.openCount == 0)
        }
    }

    @Test func interimHeadsAndTrailersInTheirOrder() async throws {
        let frames = ServerFrames().head(1, "103", [("link", "</a>")]).head().data(1, "ok")
            .headers(1, [("x-sum", "7")], ends: true)
        try await withPool(ScriptPlan(.expectRequest(1), .send(frames), .stall), over: .http2) {
            stage in
            let log = try await stage.send().log.value
            #expect(log.order == ["interim", "head", "content", "end"])
            #expect(log.interim.map(\.status.code) == [103])
            #expect(try log.result?.get()[FieldName("X-Sum")] == "7")
        }
    }

    @Test func aServerThatNeverAcknowledgesOurSettings() async throws {
        let clock = ManualClock()
        let plan = ScriptPlan(
            .expectRequest(1), .send(ServerFrames(acknowledges: false)), .signal("sent"), .stall)
        try await withPool(plan, over: .http2, clock: clock) { stage in
            let made = try stage.exchange(.post)
            stage.pool.submit(made.exchange)
            await stage.origin.gate("sent").wait()
            await stage.settle()
            clock.advance(by: .seconds(61))
            stage.group.loops[0].wake()
            await made.sink.ended.wait()
            guard case .http2(_, _, .connection(.settingsTimeout, _))? = made.sink.failure else {
                Issue.record("\(String(describing: made.sink.failure))")
                return
            }
        }
    }

    @Test func whatHTTP2DoesNotCarryIsRefused() async throws {
        try await withPool(over: .http2) { stage in
            let sink = try await stage.send(.connect)
            #expect(sink.failure == .unsupported("CONNECT over HTTP/2"))
            #expect(try await stage.send(target: "/get").failure == nil)
            #expect(stage.pool.connectionsOpened == 1)
        }
    }
}

extension PoolStage {
    /// Returns a GET of that target, not submitted yet.
    func exchange(
        target: String, options: ExchangeOptions = ExchangeOptions(), sink: RecordingSink = RecordingSink()
    ) throws -> (exchange: Exchange, sink: RecordingSink) {
        try exchange(.get, target, options: options, sink: sink)
    }

    /// Sends a GET and waits for its end.
    @discardableResult
    func send(target: String) async throws -> RecordingSink { try await send(.get, target) }
}
