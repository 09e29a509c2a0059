// SPDX-License-Identifier: MIT

import Glibc
import LupineHTTP
import LupineHTTP2
import LupineOrigin
import LupineTestKit
import Testing

@testable import LupineTransport

/// The ends of streams and connections: which requests are sent again, and never one that the server may have processed.
@Suite struct HTTP2EndTests {
    @Test(arguments: [Method.get, .post]) func aRefusedStreamIsSentAgain(_ method: Method) async throws {
        let plan = ScriptPlan(
            .expectRequest(1), .send(ServerFrames().reset(1, .refusedStream)), .expectRequest(3),
            .send(ServerFrames.bare.reply(3)), .stall)
        try await withPool(plan, over: .http2) { stage in
            let sink = try await stage.send(method, content: .bytes([1, 2, 3]))
            #expect(sink.failure == nil && sink.text == "ok")
            #expect(sink.metrics?.wasReplayed == true && stage.pool.connectionsOpened == 1)
        }
    }

    @Test func trailersOverTheServersLimitFail() async throws {
        let plan = ScriptPlan(
            .expectRequest(1), .send(ServerFrames([Setting(.maxHeaderListSize, 200)]).reply(1)),
            .expectRequest(3), .stall)
        try await withPool(plan, over: .http2) { stage in
            // The settings have arrived when the first request has been answered.
            #expect(try await stage.send(.get).text == "ok")
            var longTrailers = Fields()
            try longTrailers.append(FieldName("x-sum"), String(repeating: "5", count: 300))
            let sink = try await stage.send(
                .post, content: .stream(CountingSource(trailers: longTrailers), length: nil))
            guard case .http2(_, _, .requestTooLarge(let size, allowed: 200))? = sink.failure else {
                Issue.record("\(String(describing: sink.failure))")
                return
            }
            #expect(size > 300)
        }
    }

    @Test func aStreamThatIsRefusedEachTimeFails() async throws {
        let refusal = ServerFrames.bare.reset(1, .refusedStream)
        let secondRefusal = ServerFrames.bare.reset(3, .refusedStream)
        let thirdRefusal = ServerFrames.bare.reset(5, .refusedStream)
        let plan = ScriptPlan([
            Script([
                .expectRequest(1), .send(ServerFrames()), .send(refusal), .expectRequest(3),
                .send(secondRefusal),
                .expectRequest(5), .send(thirdRefusal), .stall,
            ]),
            Script([.expectRequest(1), .send(ServerFrames()), .send(refusal), .stall]),
        ])
        try await withPool(plan, over: .http2) { stage in
            let sink = try await stage.send(.post)
            #expect(sink.failure == .http2(host: "origin.test", port: stage.origin.port, .refused))
            // The last attempt used another connection.
            #expect(stage.pool.connectionsOpened == 2)
        }
    }

    @Test func requestsAboveTheLastStreamOfGoAwayAreSentAgain() async throws {
        let plan = ScriptPlan([
            Script([
                .expectRequest(1), .send(ServerFrames()), .expectRequest(3),
                .send(ServerFrames.bare.goAway(last: 1)), .signal("gone"), .waitForSignal("answer"),
                .send(ServerFrames.bare.reply(1, "first")), .expectEnd, .signal("closed"),
            ]),
            Script([.expectRequest(1), .send(ServerFrames().reply(1, "second")), .stall]),
        ])
        try await withPool(plan, over: .http2, limits: PoolLimits(perHost: 2)) { stage in
            let first = try stage.exchange(.post)
            let second = try stage.exchange(.post)
            stage.pool.submit(first.exchange)
            while stage.pool.connectionsOpened == 0 { await Task.yield() }
            stage.pool.submit(second.exchange)
            await second.sink.ended.wait()
            #expect(second.sink.failure == nil && second.sink.text == "second")
            #expect(second.sink.metrics?.wasReplayed == true)
            #expect(first.sink.log.value.ends == 0)
            stage.origin.gate("answer").open()
            await first.sink.ended.wait()
            #expect(first.sink.failure == nil && first.sink.text == "first")
            #expect(first.sink.metrics?.wasReplayed == false)
            await stage.origin.gate("closed").wait()
            #expect(stage.pool.connectionsOpened == 2)
        }
    }

    /// A server that sends GOAWAY after every few requests loses none of them, and processes none twice.
    @Test func aServerThatSendsGoAwayRepeatedly() async throws {
        var behaviour = HTTP2Behaviour()
        behaviour.requestsPerConnection = 7
        try await withPool(over: .http2, http2: behaviour, limits: PoolLimits(perHost: 3), loops: 2) {
            stage in
            let answered = Box(0)
            stage.origin.route("POST", "/once") { _ throws(Refusal) in
                answered.update { $0 += 1 }
                return OriginResponse(body: .bytes([1]))
            }
            let pairs = try (0..<200).map { _ in try stage.exchange(.post, "/once", content: .bytes([1])) }
            for pair in pairs { stage.pool.submit(pair.exchange) }
            for pair in pairs {
                await pair.sink.ended.wait()
                #expect(pair.sink.failure == nil, "\(String(describing: pair.sink.failure))")
            }
            #expect(answered.value == 200)
        }
    }

    @Test func theErrorOfGoAwayIsReported() async throws {
        let plan = ScriptPlan(
            .expectRequest(1), .send(ServerFrames().goAway(last: 1, .enhanceYourCalm)),
            .expectAcknowledgement, .close)
        try await withPool(plan, over: .http2) { stage in
            let sink = try await stage.send(.post)
            #expect(
                sink.failure
                    == .http2(host: "origin.test", port: stage.origin.port, .goAway(.enhanceYourCalm)))
        }
    }

    @Test func theCodeOfAResetIsReported() async throws {
        let plan = ScriptPlan(
            .expectRequest(1), .send(ServerFrames().reset(1, .internalError)), .expectRequest(3),
            .send(ServerFrames.bare.reply(3)), .stall)
        try await withPool(plan, over: .http2) { stage in
            let sink = try await stage.send()
            #expect(
                sink.failure == .http2(host: "origin.test", port: stage.origin.port, .reset(.internalError)))
            #expect(try await stage.send().text == "ok")
            #expect(stage.pool.connectionsOpened == 1)
        }
    }

    @Test(arguments: [Method.get, .post]) func aConnectionThatClosesDuringAnExchange(_ method: Method)
        async throws
    {
        let plan = ScriptPlan([
            Script([
                .expectRequest(1), .send(ServerFrames().reply()), .expectRequest(3), .close,
            ]),
            Script([.expectRequest(1), .send(ServerFrames().reply(1, "second")), .stall]),
        ])
        try await withPool(plan, over: .http2) { stage in
            try await stage.send()
            let sink = try await stage.send(method)
            if method == .get {
                #expect(sink.text == "second" && sink.metrics?.wasReplayed == true)
            } else {
                #expect(
                    sink.failure
                        == .http(host: "origin.test", port: stage.origin.port, .truncated(.beforeHead)))
            }
        }
    }

    @Test(arguments: [true, false]) func aBodyThatIsCutShort(_ hasLength: Bool) async throws {
        let head = ServerFrames().head(1, "200", hasLength ? [("content-length", "9")] : [])
        let plan = ScriptPlan(
            .expectRequest(1), .send(head.data(1, "abc")), .expectAcknowledgement, .close)
        try await withPool(plan, over: .http2) { stage in
            let sink = try await stage.send()
            let place: HTTPError.Truncation =
                hasLength ? .insideBody(received: 3, expected: 9) : .insideBodyOfUnknownLength(received: 3)
            #expect(
                sink.failure == .http(host: "origin.test", port: stage.origin.port, .truncated(place)))
            #expect(sink.text == "abc")
            #expect(sink.failure?.description.contains("chunk") == false)
        }
    }

    @Test(arguments: [true, false]) func aBodyWhoseStreamIsReset(_ hasLength: Bool) async throws {
        let head = ServerFrames().head(1, "200", hasLength ? [("content-length", "9")] : [])
        let plan = ScriptPlan(
            .expectRequest(1), .send(head.data(1, "abc").reset(1, .internalError)), .expectRequest(3),
            .send(ServerFrames.bare.reply(3)), .stall)
        try await withPool(plan, over: .http2) { stage in
            let sink = try await stage.send()
            #expect(
                sink.failure == .http2(host: "origin.test", port: stage.origin.port, .reset(.internalError)))
            #expect(sink.text == "abc" && sink.failure?.description.contains("chunk") == false)
            #expect(try await stage.send().text == "ok")
            #expect(stage.pool.connectionsOpened == 1)
        }
    }

    /// A request whose head is unsent when the connection breaks is sent on another one, once.
    @Test func anUnsentPostIsSentOnce() async throws {
        let oneStream = ServerFrames([Setting(.maxConcurrentStreams, 1)])
        let broken = ServerFrames.bare.reply(3, "first").frame(0, 0, [0])
        let plan = ScriptPlan([
            Script([
                .expectRequest(1), .send(oneStream.reply()), .expectRequest(3), .waitForSignal("waits"),
                .send(broken), .stall,
            ]),
            Script([
                .expectRequest(1), .send(ServerFrames().reply(1, "second")), .signal("second"), .stall,
            ]),
        ])
        try await withPool(plan, over: .http2, limits: PoolLimits(perHost: 1)) { stage in
            try await stage.send()
            let first = try stage.exchange(.post)
            let second = try stage.exchange(.post)
            stage.pool.submit(first.exchange)
            stage.pool.submit(second.exchange)
            await stage.settle()
            stage.origin.gate("waits").open()
            await first.sink.ended.wait()
            await second.sink.ended.wait()
            #expect(first.sink.failure == nil && first.sink.text == "first")
            #expect(second.sink.failure == nil && second.sink.text == "second")
            #expect(stage.pool.connectionsOpened == 2)
        }
    }

    /// A source is read only after the head has been sent: a request whose head was unsent starts on another connection with the
    /// first piece.
    @Test func aStreamedBodyIsReadAfterItsHeadWasSent() async throws {
        let oneStream = ServerFrames([Setting(.maxConcurrentStreams, 1)])
        let plan = ScriptPlan([
            Script([
                .expectRequest(1), .send(oneStream.reply()), .expectRequest(3), .waitForSignal("waits"),
                .send(ServerFrames.bare.reply(3, "first").frame(0, 0, [0])), .stall,
            ]),
            Script([
                .expectRequest(1), .expectFrame(type: 0, stream: 1), .send(ServerFrames().reply(1, "second")),
                .stall,
            ]),
        ])
        try await withPool(plan, over: .http2, limits: PoolLimits(perHost: 1)) { stage in
            try await stage.send()
            let first = try stage.exchange(.post)
            let source = CountingSource()
            let second = try stage.exchange(.post, content: .stream(source, length: nil))
            stage.pool.submit(first.exchange)
            stage.pool.submit(second.exchange)
            await stage.settle()
            stage.origin.gate("waits").open()
            await second.sink.ended.wait()
            #expect(second.sink.failure == nil && second.sink.text == "second")
            #expect(source.askCount.value == 2)
            let sent = stage.origin.received(on: 1)
            #expect(sent.suffix(16).contains(0x31), "the first piece was not sent")
        }
    }

    /// A connection whose server is silent gets no further request once one has timed out.
    @Test func aSilentConnectionGetsNoFurtherRequest() async throws {
        let clock = ManualClock()
        let plan = ScriptPlan([
            Script([
                .expectRequest(1), .send(ServerFrames().reply()), .expectRequest(3), .signal("silent"),
                .stall,
            ]),
            Script([.expectRequest(1), .send(ServerFrames().reply(1, "second")), .stall]),
        ])
        try await withPool(plan, over: .http2, limits: PoolLimits(perHost: 2), clock: clock) { stage in
            try await stage.send()
            clock.advance(by: .seconds(1))
            var options = ExchangeOptions()
            options.timeouts.firstByte = .seconds(1)
            let late = try stage.exchange(target: "/", options: options)
            stage.pool.submit(late.exchange)
            await stage.origin.gate("silent").wait()
            await stage.settle()
            clock.advance(by: .seconds(2))
            stage.group.loops[0].wake()
            await late.sink.ended.wait()
            #expect(late.sink.failure?.isTimeOut(of: "origin.test", .firstByte) == true)
            #expect(try await stage.send().text == "second")
            #expect(stage.pool.connectionsOpened == 2)
        }
    }

    /// The content before a stream's reset is in the file, and the sink is told how much it is.
    @Test func theFileHasTheContentBeforeTheReset() async throws {
        let path = try temporaryFile()
        defer { _ = unsafe unlink(path) }
        let frames = ServerFrames().head().data(1, "abc").reset(1, .internalError)
        let plan = ScriptPlan(.expectRequest(1), .send(frames), .stall)
        try await withPool(plan, over: .http2) { stage in
            let target = FileTarget(try Descriptor.writing(path: path))
            let sink = try await stage.send(sink: RecordingSink(plan: { .splice(into: target) }))
            #expect(
                sink.failure == .http2(host: "origin.test", port: stage.origin.port, .reset(.internalError)))
            #expect(sink.log.value.spliced == 3)
            #expect(try contents(of: path) == Array("abc".utf8))
        }
    }

    /// Each exchange is cancelled as it begins, and the next one begins in its place, without recursion. The origin may end a
    /// connection on which so many streams are reset.
    @Test func thousandsThatAreCancelledAsTheyBegin() async throws {
        var behaviour = HTTP2Behaviour()
        behaviour.maxConcurrentStreams = 1
        try await withPool(over: .http2, http2: behaviour, limits: PoolLimits(perHost: 1)) { stage in
            try await stage.send(.get, "/get")
            let gate = Gate()
            stage.origin.route("GET", "/held") { _ throws(Refusal) in
                var response = OriginResponse(200)
                response.gate = gate
                return response
            }
            let held = try stage.exchange(target: "/held")
            stage.pool.submit(held.exchange)
            while stage.origin.counts.requests < 2 { await Task.yield() }
            let pairs = try (0..<5_000).map { _ in
                let running = Box<Exchange?>(nil)
                let sink = RecordingSink(onBegin: { running.value?.cancel() })
                let pair = try stage.exchange(sink: sink)
                running.update { $0 = pair.exchange }
                stage.pool.submit(pair.exchange)
                return (running, sink)
            }
            gate.open()
            for (running, sink) in pairs {
                await sink.ended.wait()
                #expect(sink.failure == .cancelled && sink.log.value.ends == 1)
                running.update { $0 = nil }
            }
        }
    }

    /// The response is complete before the request: the rest of the request is not sent, and the connection stays in use.
    @Test func anEarlyAnswerEndsOnlyTheStream() async throws {
        try await withPool(over: .http2) { stage in
            stage.origin.route("POST", "/early", .immediate { _ in OriginResponse(403) })
            let gate = Gate()
            let sink = try await stage.send(
                .post, "/early", content: .stream(WaitingSource(gate), length: 1_000))
            #expect(sink.failure == nil && sink.log.value.head?.status.code == 403)
            #expect(try await stage.send(target: "/get").failure == nil)
            #expect(stage.pool.connectionsOpened == 1)
            gate.open()
        }
    }

    /// The server needs no more of the request. The response has arrived completely, but its consumer has paused before the
    /// content or before the end.
    @Test(
        "[H-8.4] RST_STREAM (NO_ERROR) after a complete response whose consumer has paused",
        arguments: [Method.get, .post], [false, true])
    func noErrorAfterAResponseThatWaits(_ method: Method, _ pausesAtHead: Bool) async throws {
        let answer = ServerFrames().reply(1, "the answer").reset(1, .noError).ping()
        let plan = ScriptPlan(
            .expectRequest(1), .send(answer), .expectFrame(type: 6, stream: 0), .signal("reset"),
            .expectRequest(3), .send(ServerFrames.bare.reply(3)), .stall)
        try await withPool(plan, over: .http2) { stage in
            let gate = Gate()
            let content: OutgoingContent =
                method == .post ? .stream(WaitingSource(gate), length: nil) : .none
            let sink = RecordingSink(
                plan: { pausesAtHead ? .pause : .deliver }, demand: { _ in pausesAtHead ? .more : .pause })
            let pair = try stage.exchange(method, content: content, sink: sink)
            stage.pool.submit(pair.exchange)
            await stage.origin.gate("reset").wait()
            #expect(sink.log.value.ends == 0)
            pair.exchange.resume()
            await sink.ended.wait()
            #expect(sink.failure == nil && sink.text == "the answer")
            #expect(try await stage.send().text == "ok")
            #expect(stage.pool.connectionsOpened == 1)
            gate.open()
        }
    }

    /// A way in which a response is cut short, and the error that its consumer receives.
    struct Interruption: CustomTestStringConvertible, Sendable {
        var testDescription: String
        let steps: [Script.Step]
        /// Whether the connection ends as well.
        var endsConnection = true
        let error: @Sendable (_ port: UInt16) -> TransportError
    }

    static let interruptions = [
        Interruption(
            testDescription: "the stream is reset",
            steps: [
                .send(ServerFrames.bare.reset(1, .internalError).ping()), .expectFrame(type: 6, stream: 0),
            ], endsConnection: false,
            error: { .http2(host: "origin.test", port: $0, .reset(.internalError)) }),
        Interruption(
            testDescription: "the message is malformed",
            steps: [
                .send(ServerFrames.bare.headers(1, [("x-sum", "5")]).ping()),
                .expectFrame(type: 6, stream: 0),
            ], endsConnection: false,
            error: {
                let error = HTTP2StreamError.message(.trailersWithoutEnd)
                return .http2(host: "origin.test", port: $0, HTTP2Failure(error))
            }),
        Interruption(
            testDescription: "the connection is closed", steps: [.signal("broken"), .close],
            error: {
                .http(
                    host: "origin.test", port: $0,
                    .truncated(.insideBodyOfUnknownLength(received: 3)))
            }),
        Interruption(
            testDescription: "the peer breaks the protocol",
            steps: [
                .send(ServerFrames.bare.frame(0, 0, [0])), .expectFrame(type: 7, stream: 0),
                .signal("broken"), .close,
            ],
            error: {
                let error = HTTP2ConnectionError.frame(.streamNeeded(.data))
                return .http2(host: "origin.test", port: $0, HTTP2Failure(error))
            }),
    ]

    @Test(
        "[H-12.15] received content is delivered before the error, also to a paused consumer",
        arguments: interruptions, [false, true])
    func receivedContentPrecedesTheError(_ row: Interruption, _ isSuspended: Bool) async throws {
        let begin = ServerFrames().head(1, "200", []).data(1, "abc")
        let before: [Script.Step] = [
            .expectRequest(1), .signal("asked"), .waitForSignal("go"), .send(begin), .expectAcknowledgement,
        ]
        let after: [Script.Step] = row.endsConnection ? [] : [.signal("broken"), .stall]
        let plan = ScriptPlan([Script(before + row.steps + after)])
        try await withPool(plan, over: .http2) { stage in
            let sink = RecordingSink(plan: { .pause })
            let pair = try stage.exchange(.post, sink: sink)
            stage.pool.submit(pair.exchange)
            await stage.origin.gate("asked").wait()
            if isSuspended { pair.exchange.setSuspended(true) }
            await stage.settle()
            stage.origin.gate("go").open()
            await stage.origin.gate("broken").wait()
            if row.endsConnection { while stage.origin.counts.connectionsOpen > 0 { await Task.yield() } }
            await stage.settle()
            #expect(sink.log.value.ends == 0)
            if isSuspended {
                pair.exchange.setSuspended(false)
                await sink.headReceived.wait()
            }
            while sink.log.value.ends == 0 {
                pair.exchange.resume()
                await Task.yield()
            }
            #expect(sink.text == "abc" && sink.failure == row.error(stage.origin.port))
        }
    }

    @Test func enoughEndsTheStreamAndKeepsTheConnection() async throws {
        try await withPool(over: .http2) { stage in
            let sink = try await stage.send(
                .get, "/bytes/50000000", sink: RecordingSink(demand: { _ in .enough }))
            #expect(sink.failure == nil && !sink.log.value.body.isEmpty)
            #expect(try await stage.send(target: "/get").failure == nil)
            #expect(stage.pool.connectionsOpened == 1)
        }
    }

    @Test func shutDownEndsAll() async throws {
        try await withPool(over: .http2, limits: PoolLimits(perHost: 1)) { stage in
            stage.origin.route("GET", "/held") { _ throws(Refusal) in
                var response = OriginResponse(200)
                response.gate = Gate()
                return response
            }
            let pairs = try (0..<5).map { _ in try stage.exchange(target: "/held") }
            for pair in pairs { stage.pool.submit(pair.exchange) }
            while stage.origin.counts.requests < 5 { await Task.yield() }
            await withCheckedContinuation { continuation in stage.pool.shutDown { continuation.resume() } }
            for pair in pairs { #expect(pair.sink.failure == .shutDown && pair.sink.log.value.ends == 1) }
        }
    }
}

/// A source that has nothing until a gate opens, and then ends.
private final class WaitingSource: ContentSource {
    private let gate: Gate

    init(_ gate: Gate) { self.gate = gate }

    var isReplayable: Bool { false }
    func rewind() -> Bool { false }
    func abandon() {}

    func next(_ reply: @escaping @Sendable (ContentPiece) -> Void) {
        gate.whenOpen { reply(.end(trailers: Fields())) }
    }
}

/// A source of one octet, the digit 1, and optional trailers. It counts the calls of `next`, and cannot be rewound.
private final class CountingSource: ContentSource {
    let askCount = Box(0)
    private let trailers: Fields

    init(trailers: Fields = Fields()) { self.trailers = trailers }

    var isReplayable: Bool { false }
    func rewind() -> Bool { false }
    func abandon() {}

    func next(_ reply: @escaping @Sendable (ContentPiece) -> Void) {
        askCount.update { $0 += 1 }
        reply(askCount.value == 1 ? .bytes([0x31]) : .end(trailers: trailers))
    }
}
