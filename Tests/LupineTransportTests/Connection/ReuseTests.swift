// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineOrigin
import LupineTestKit
import Testing

@testable import LupineTransport

/// U-9.13, U-11.6: when the end of an exchange with unwanted content is reported, its connection can be reused at once, if the
/// rest of the content is short.
@Suite struct ReuseTests {
    /// The point at which the consumer declines the remaining content.
    enum SkipPoint: CaseIterable, Sendable { case atTheHead, atTheContent, later }

    /// The ways in which the remaining content arrives.
    struct Remainder: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let steps: [Script.Step]

        static let all = [
            Remainder(testDescription: "nothing", steps: [.reply("")]),
            Remainder(testDescription: "at once", steps: [.reply("moved")]),
            Remainder(
                testDescription: "in chunks",
                steps: [
                    .send("HTTP/1.1 302 Found\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nmoved\r\n0\r\n\r\n")
                ]),
            Remainder(
                testDescription: "in pieces",
                steps: [.sendByteByByte(Array("HTTP/1.1 302 Found\r\nContent-Length: 5\r\n\r\nmoved".utf8))]),
        ]
    }

    @Test(arguments: Remainder.all, SkipPoint.allCases) func oneConnection(
        _ remainder: Remainder, _ skipPoint: SkipPoint
    ) async throws {
        let count = 8
        let steps = (0..<count).flatMap { _ in [.expectHead] + remainder.steps } + [.stall]
        try await withPool(ScriptPlan([Script(steps)])) { stage in
            let chain = Chain(stage, skipPoint, count: count)
            try chain.begin()
            await chain.ended.wait()
            #expect(chain.failures.value == 0 && stage.pool.connectionsOpened == 1)
        }
    }

    /// The remaining content arrives late: the end of the exchange waits a short time for it.
    @Test func theEndWaitsForAShortRemainder() async throws {
        let plan = ScriptPlan(
            .expectHead, .send("HTTP/1.1 302 Found\r\nContent-Length: 5\r\n\r\nmo"), .waitForSignal("rest"),
            .send("ved"), .expectHead, .reply("second"), .stall)
        try await withPool(plan, clock: ManualClock()) { stage in
            let pair = try stage.exchange(sink: RecordingSink(plan: { .skip }))
            stage.pool.submit(pair.exchange)
            await pair.sink.headReceived.wait()
            await stage.settle()
            #expect(pair.sink.log.value.ends == 0)
            stage.origin.gate("rest").open()
            await pair.sink.ended.wait()
            #expect(pair.sink.failure == nil && pair.sink.log.value.ends == 1)
            let second = try await stage.send()
            #expect(second.text == "second" && stage.pool.connectionsOpened == 1)
        }
    }

    /// Events that may occur instead of the remaining content. The exchange ends once: with success, or as cancelled.
    enum Interruption: CaseIterable, Sendable { case nothing, end, garbage, cancelling, shutDown }

    @Test(arguments: Interruption.allCases) func theRemainderDoesNotArrive(_ interruption: Interruption)
        async throws
    {
        let begin = Script.Step.send("HTTP/1.1 302 Found\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nmo\r\n")
        let steps: [Script.Step] =
            switch interruption {
            case .nothing, .cancelling, .shutDown: [.stall]
            case .end: [.waitForSignal("rest"), .close]
            case .garbage: [.waitForSignal("rest"), .send("no chunk\r\n"), .stall]
            }
        let clock = ManualClock()
        try await withPool(ScriptPlan([Script([.expectHead, begin] + steps)]), clock: clock) { stage in
            let pair = try stage.exchange(sink: RecordingSink(plan: { .skip }))
            stage.pool.submit(pair.exchange)
            await pair.sink.headReceived.wait()
            await stage.settle()
            #expect(pair.sink.log.value.ends == 0)
            switch interruption {
            case .end, .garbage: stage.origin.gate("rest").open()
            case .cancelling: pair.exchange.cancel()
            case .shutDown:
                await withCheckedContinuation { done in stage.pool.shutDown { done.resume() } }
            case .nothing:
                clock.advance(by: .milliseconds(100))
                for loop in stage.group.loops { loop.wake() }
            }
            await pair.sink.ended.wait()
            await stage.settle()
            #expect(pair.sink.failure == (interruption == .cancelling ? .cancelled : nil))
            #expect(pair.sink.log.value.ends == 1)
            let isKept = interruption == .nothing || interruption == .cancelling
            #expect(stage.pool.openCount == (isKept ? 1 : 0))
            if isKept {
                // The time for the remaining content is limited.
                clock.advance(by: .seconds(1))
                for loop in stage.group.loops { loop.wake() }
                while stage.pool.openCount > 0 { await stage.settle() }
            }
        }
    }
}

/// A sequence of exchanges, each submitted when the end of the previous one is reported.
private final class Chain: ExchangeSink {
    private let stage: PoolStage
    private let skipPoint: ReuseTests.SkipPoint
    private let remainingCount: Box<Int>
    private let current = Box<Exchange?>(nil)
    let failures = Box(0)
    let ended = Gate()

    init(_ stage: PoolStage, _ skipPoint: ReuseTests.SkipPoint, count: Int) {
        self.stage = stage
        self.skipPoint = skipPoint
        remainingCount = Box(count)
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
        switch skipPoint {
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
        remainingCount.update { $0 -= 1 }
        current.update { $0 = nil }
        guard remainingCount.value > 0 else { return ended.open() }
        do { try begin() } catch { ended.open() }
    }
}
