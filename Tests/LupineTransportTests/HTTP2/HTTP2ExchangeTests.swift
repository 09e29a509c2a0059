// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineHTTP2
import LupineOrigin
import LupineTestKit
import Testing

@testable import LupineTransport

/// Many exchanges on one connection: each ends independently, and none delays another.
@Suite struct HTTP2ExchangeTests {
    @Test func manyAtOnceShareAConnection() async throws {
        try await withPool(over: .http2, limits: PoolLimits(perHost: 1)) { stage in
            let gate = Gate()
            stage.origin.route("GET", "/held/{name}") { request throws(Refusal) in
                var response = OriginResponse(body: .bytes(Array(request.parameters[0].utf8)))
                response.gate = gate
                return response
            }
            let pairs = try (0..<60).map { try stage.exchange(target: "/held/\($0)") }
            for pair in pairs { stage.pool.submit(pair.exchange) }
            while stage.origin.counts.requests < 60 { await Task.yield() }
            gate.open()
            for (number, pair) in pairs.enumerated() {
                await pair.sink.ended.wait()
                #expect(pair.sink.failure == nil && pair.sink.text == "\(number)")
                #expect(pair.sink.metrics?.version == .http2)
            }
            #expect(stage.pool.connectionsOpened == 1 && stage.pool.idleCount == 1)
        }
    }

    @Test func asManyAsThePeerAllows() async throws {
        var behaviour = HTTP2Behaviour()
        behaviour.maxConcurrentStreams = 2
        try await withPool(over: .http2, http2: behaviour, limits: PoolLimits(perHost: 1)) { stage in
            try await stage.send(target: "/get")
            let gate = Gate()
            stage.origin.route("GET", "/held") { _ throws(Refusal) in
                var response = OriginResponse(200)
                response.gate = gate
                return response
            }
            let pairs = try (0..<20).map { _ in try stage.exchange(target: "/held") }
            for pair in pairs { stage.pool.submit(pair.exchange) }
            while stage.origin.counts.requests < 3 { await Task.yield() }
            await stage.settle()
            #expect(stage.origin.counts.requests == 3)
            gate.open()
            for pair in pairs {
                await pair.sink.ended.wait()
                #expect(pair.sink.failure == nil && pair.sink.metrics?.wasReplayed == false)
            }
            #expect(stage.pool.connectionsOpened == 1)
        }
    }

    @Test func aCancellationEndsOnlyItsExchange() async throws {
        try await withPool(over: .http2, limits: PoolLimits(perHost: 1)) { stage in
            let gate = Gate()
            stage.origin.route("GET", "/held") { _ throws(Refusal) in
                var response = OriginResponse(body: .bytes(Array("late".utf8)))
                response.gate = gate
                return response
            }
            let pairs = try (0..<3).map { _ in try stage.exchange(target: "/held") }
            for pair in pairs { stage.pool.submit(pair.exchange) }
            while stage.origin.counts.requests < 3 { await Task.yield() }
            pairs[1].exchange.cancel()
            await pairs[1].sink.ended.wait()
            #expect(pairs[1].sink.failure == .cancelled)
            gate.open()
            for index in [0, 2] {
                await pairs[index].sink.ended.wait()
                #expect(pairs[index].sink.text == "late" && pairs[index].sink.failure == nil)
            }
            #expect(try await stage.send(target: "/get").failure == nil)
            #expect(stage.pool.connectionsOpened == 1)
        }
    }

    @Test func aTimeoutEndsOnlyItsExchange() async throws {
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
            let timed = try stage.exchange(target: "/held", options: options)
            let untimed = try stage.exchange(target: "/held")
            stage.pool.submit(timed.exchange)
            stage.pool.submit(untimed.exchange)
            while stage.origin.counts.requests < 2 { await Task.yield() }
            await stage.settle()
            clock.advance(by: .seconds(2))
            stage.group.loops[0].wake()
            await timed.sink.ended.wait()
            #expect(timed.sink.failure?.isTimeOut(of: "origin.test", .firstByte) == true)
            gate.open()
            await untimed.sink.ended.wait()
            #expect(untimed.sink.text == "late" && untimed.sink.failure == nil)
            #expect(stage.pool.connectionsOpened == 1)
        }
    }

    /// A paused consumer stops its stream when the window is full; 99 other requests are answered meanwhile.
    @Test func aSlowConsumerDelaysNoOther() async throws {
        try await withPool(over: .http2, limits: PoolLimits(perHost: 1)) { stage in
            let length = 64 << 20
            let slow = try stage.exchange(
                target: "/bytes/\(length)", sink: RecordingSink(demand: { _ in .pause }))
            stage.pool.submit(slow.exchange)
            await slow.sink.headReceived.wait()
            let quick = try (0..<99).map { _ in try stage.exchange(target: "/bytes/2000") }
            for pair in quick { stage.pool.submit(pair.exchange) }
            for pair in quick {
                await pair.sink.ended.wait()
                #expect(pair.sink.failure == nil && pair.sink.log.value.body.count == 2_000)
            }
            #expect(stage.origin.counts.bytesSent < 2 * FlowWindow.initial + 99 * 4_000)
            #expect(stage.pool.connectionsOpened == 1)
            slow.exchange.cancel()
            await slow.sink.ended.wait()
            #expect(try await stage.send(target: "/get").failure == nil)
        }
    }

    /// At most a window of content waits for a paused consumer, which receives all of it in order once it resumes.
    @Test func heldContentIsDeliveredInOrder() async throws {
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
            let pair = try stage.exchange(target: "/content", sink: sink)
            running.update { $0 = pair.exchange }
            stage.pool.submit(pair.exchange)
            // Resuming has no effect before the pause, so it is repeated.
            while sink.log.value.ends == 0 {
                pair.exchange.resume()
                await Task.yield()
            }
            running.update { $0 = nil }
            #expect(sink.failure == nil && sink.log.value.body == content)
        }
    }

    /// The response has arrived completely, its consumer has paused, and the server closes: the content is still delivered.
    @Test func aCompleteResponseOutlivesItsConnection() async throws {
        let plan = ScriptPlan(
            .expectRequest(1), .send(ServerFrames().reply(1, "all of it")), .expectAcknowledgement,
            .signal("sent"), .close)
        try await withPool(plan, over: .http2) { stage in
            let pair = try stage.exchange(sink: RecordingSink(plan: { .pause }))
            stage.pool.submit(pair.exchange)
            await pair.sink.headReceived.wait()
            await stage.origin.gate("sent").wait()
            while stage.origin.counts.connectionsOpen > 0 { await Task.yield() }
            await stage.settle()
            #expect(pair.sink.log.value.ends == 0)
            while pair.sink.log.value.ends == 0 {
                pair.exchange.resume()
                await Task.yield()
            }
            #expect(pair.sink.failure == nil && pair.sink.text == "all of it")
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
            let pair = try stage.exchange(.post)
            stage.pool.submit(pair.exchange)
            await stage.origin.gate("sent").wait()
            await stage.settle()
            clock.advance(by: .seconds(61))
            stage.group.loops[0].wake()
            await pair.sink.ended.wait()
            guard case .http2(_, _, .connection(.settingsTimeout, _))? = pair.sink.failure else {
                Issue.record("\(String(describing: pair.sink.failure))")
                return
            }
        }
    }

    @Test func connectIsRefused() async throws {
        try await withPool(over: .http2) { stage in
            let sink = try await stage.send(.connect)
            #expect(sink.failure == .unsupported("CONNECT over HTTP/2"))
            #expect(try await stage.send(target: "/get").failure == nil)
            #expect(stage.pool.connectionsOpened == 1)
        }
    }
}

extension PoolStage {
    /// Returns a GET exchange for `target`; it is not submitted yet.
    func exchange(
        target: String, options: ExchangeOptions = ExchangeOptions(), sink: RecordingSink = RecordingSink()
    ) throws -> (exchange: Exchange, sink: RecordingSink) {
        try exchange(.get, target, options: options, sink: sink)
    }

    /// Sends a GET and waits for its end.
    @discardableResult
    func send(target: String) async throws -> RecordingSink { try await send(.get, target) }
}
