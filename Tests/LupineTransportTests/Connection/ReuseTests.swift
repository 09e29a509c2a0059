// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineOrigin
import LupineTestKit
import Testing

@testable import LupineTransport

/// U-9.13, U-11.6: when the end of an exchange with unwanted content is reported, its connection can be reused at once, if the
/// rest of the content is short.
@Suite struct ReuseTests {
    /// How the consumer gives up the rest.
    enum Way: CaseIterable, Sendable { case atTheHead, atTheContent, later }

    /// How the rest arrives.
    struct Rest: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let steps: [Script.Step]

        static let all = [
            Rest(testDescription: "nothing", steps: [.reply("")]),
            Rest(testDescription: "at once", steps: [.reply("moved")]),
            Rest(
                testDescription: "in chunks",
                steps: [
                    .send("HTTP/1.1 302 Found\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nmoved\r\n0\r\n\r\n")
                ]),
            Rest(
                testDescription: "in pieces",
                steps: [.sendByteByByte(Array("HTTP/1.1 302 Found\r\nContent-Length: 5\r\n\r\nmoved".utf8))]),
        ]
    }

    @Test(arguments: Rest.all, Way.allCases) func oneConnection(_ rest: Rest, _ way: Way) async throws {
        let count = 8
        let steps = (0..<count).flatMap { _ in [.expectHead] + rest.steps } + [.stall]
        try await withPool(ScriptPlan([Script(steps)])) { stage in
            let chain = Chain(stage, way, count: count)
            try chain.begin()
            await chain.ended.wait()
            #expect(chain.failures.value == 0 && stage.pool.connectionsOpened == 1)
        }
    }

    /// The rest arrives late: the end of the exchange waits for it for a short time.
    @Test func theEndWaitsForAShortRest() async throws {
        let plan = ScriptPlan(
            .expectHead, .send("HTTP/1.1 302 Found\r\nContent-Length: 5\r\n\r\nmo"), .waitForSignal("rest"),
            .send("ved"), .expectHead, .reply("second"), .stall)
        try await withPool(plan, clock: ManualClock()) { stage in
            let made = try stage.exchange(sink: RecordingSink(plan: { .skip }))
            stage.pool.submit(made.exchange)
            await made.sink.headCame.wait()
            await stage.settle()
            #expect(made.sink.log.value.ends == 0)
            stage.origin.gate("rest").open()
            await made.sink.ended.wait()
            #expect(made.sink.failure == nil && made.sink.log.value.ends == 1)
            let second = try await stage.send()
            #expect(second.text == "second" && stage.pool.connectionsOpened == 1)
        }
    }

    /// Events that may come instead of the rest. The exchange ends once: with success, or as cancelled.
    enum Instead: CaseIterable, Sendable { case nothing, end, garbage, cancelling, shutDown }

    @Test(arguments: Instead.allCases) func theRestDoesNotCome(_ instead: Instead) async throws {
        let begin = Script.Step.send("HTTP/1.1 302 Found\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nmo\r\n")
        let steps: [Script.Step] =
            switch instead {
            case .nothing, .cancelling, .shutDown: [.stall]
            case .end: [.waitForSignal("rest"), .close]
            case .garbage: [.waitForSignal("rest"), .send("no chunk\r\n"), .stall]
            }
        let clock = ManualClock()
        try await withPool(ScriptPlan([Script([.expectHead, begin] + steps)]), clock: clock) { stage in
            let made = try stage.exchange(sink: RecordingSink(plan: { .skip }))
            stage.pool.submit(made.exchange)
            await made.sink.headCame.wait()
            await stage.settle()
            #expect(made.sink.log.value.ends == 0)
            switch instead {
            case .end, .garbage: stage.origin.gate("rest").open()
            case .cancelling: made.exchange.cancel()
            case .shutDown:
                await withCheckedContinuation { done in stage.pool.shutDown { done.resume() } }
            case .nothing:
                clock.advance(by: .milliseconds(100))
                for loop in stage.group.loops { loop.wake() }
            }
            await made.sink.ended.wait()
            await stage.settle()
            #expect(made.sink.failure == (instead == .cancelling ? .cancelled : nil))
            #expect(made.sink.log.value.ends == 1)
            let isKept = instead == .nothing || instead == .cancelling
            #expect(stage.pool.openCount == (isKept ? 1 : 0))
            if isKept {
                // The time for the rest is limited.
                clock.advance(by: .seconds(1))
                for loop in stage.group.loops { loop.wake() }
                while stage.pool.openCount > 0 { await stage.settle() }
            }
        }
    }
}

/// A row of exchanges, each submitted when the end of the one before is reported.
private final class Chain: ExchangeSink {
    private let stage: PoolStage
    private let way: ReuseTests.Way
    private let left: Box<Int>
    private let current = Box<Exchange?>(nil)
    let failures = Box(0)
    let ended = Gate()

    init(_ stage: PoolStage, _ way: ReuseTests.Way, count: Int) {
        self.stage = stage
        self.way = way
        left = Box(count)
    }

    func begin() throws {
        let key = LupineTransport.Origin(scheme: .http, host: "origin.test", port: stage.origin.port)
        var fields = Fields()
        try fields.append(.host, "origin.test")
        let head = RequestHead(method: .get, target: .origin("/"), fields: fields)
        let exchange = Exchange(head: head, origin: key, sink: self)
        current.update { $0 = exchange }
        stage.pool.submit(exchange)
    }

    func receivedHead(_ head: ResponseHead, framing: BodyFraming) -> ContentPlan {
        switch way {
        case .atTheHead: return .skip
        case .atTheContent: return .deliver
        case .later:
            current.value?.skip()
            return .pause
        }
    }

    func receivedContent(_ bytes: Span<UInt8>) -> Demand { .enough }

    func exchangeEnded(_ result: Result<Fields, TransportError>, _ metrics: ExchangeMetrics) {
        if case .failure = result { failures.update { $0 += 1 } }
        left.update { $0 -= 1 }
        current.update { $0 = nil }
        guard left.value > 0 else { return ended.open() }
        do { try begin() } catch { ended.open() }
    }
}
