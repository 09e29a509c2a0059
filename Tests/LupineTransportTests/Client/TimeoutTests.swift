// SPDX-License-Identifier: MIT

import Glibc
import LupineHTTP
import LupineOrigin
import LupineTestKit
import Testing

@testable import LupineTransport

/// Each time-out has its own error, and applies in every phase of an exchange. The peers do nothing, and the times are short; the
/// duration of an exchange is not asserted.
@Suite struct TimeoutTests {
    static let short = Duration.milliseconds(50)

    private func expect(_ timeout: TransferTimeout, _ error: TransportError?) {
        #expect(error?.isTimeOut(of: "127.0.0.1", timeout) == true)
    }

    @Test(arguments: TestedHTTP.allCases) func theFirstByteTimeout(over testedHTTP: TestedHTTP) async throws {
        try await withStack(
            ScriptPlan(.expectHead, .stall), over: testedHTTP,
            settings: .with { $0.firstByteTimeout = Self.short }
        ) { client, origin in
            expect(
                .firstByte,
                await failure { () throws(TransportError) in try await client.get(origin.url + "/") })
        }
    }

    @Test(arguments: TestedHTTP.allCases) func silenceInTheBody(over testedHTTP: TestedHTTP) async throws {
        let plan = ScriptPlan(.expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), .stall)
        try await withStack(plan, over: testedHTTP, settings: .with { $0.idleReadTimeout = Self.short }) {
            client, origin in
            let response = try await client.get(origin.url + "/")
            expect(
                .idleRead, await failure { () throws(TransportError) in try await response.body.collect() })
        }
    }

    @Test(arguments: TestedHTTP.allCases) func aPeerThatReadsNothing(over testedHTTP: TestedHTTP) async throws
    {
        let plan = ScriptPlan(.expectHead, .stall)
        try await withStack(
            plan, over: testedHTTP, buffers: 4_096, settings: .with { $0.idleWriteTimeout = Self.short }
        ) {
            client, origin in
            let request = try HTTPRequest(
                method: .post, url: origin.url + "/", body: .bytes([UInt8](repeating: 0, count: 32 << 20)))
            expect(.idleWrite, await failure { () throws(TransportError) in try await client.send(request) })
        }
    }

    @Test(arguments: TestedHTTP.allCases) func theWholeTimeoutInTheBody(over testedHTTP: TestedHTTP)
        async throws
    {
        let plan = ScriptPlan(.expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), .stall)
        try await withStack(plan, over: testedHTTP, settings: .with { $0.timeout = .milliseconds(200) }) {
            client, origin in
            let error = await failure { () throws(TransportError) in
                try await client.get(origin.url + "/").body.collect()
            }
            expect(.whole, error)
        }
    }

    @Test func theWholeTimeoutWhileWaitingForAConnection() async throws {
        let plan = ScriptPlan(.expectHead, .signal("busy"), .waitForSignal("go"), .reply(), .stall)
        try await withPool(plan, limits: PoolLimits(perHost: 1)) { stage in
            let first = try stage.exchange()
            stage.pool.submit(first.exchange)
            await stage.origin.gate("busy").wait()
            var options = ExchangeOptions()
            options.timeouts.whole = Interval(Self.short)
            let second = try await stage.send(options: options)
            #expect(second.failure?.isTimeOut(of: "origin.test", .whole) == true)
            stage.origin.gate("go").open()
            await first.sink.ended.wait()
            #expect(first.sink.text == "ok")
        }
    }

    @Test func theConnectTimeout() async throws {
        let release = Lock(false)
        let group = try EventLoopGroup(count: 1, name: "stage")
        let resolver = Resolver { _, _ throws(ResolutionError) in
            while !release.withLock({ $0 }) { sched_yield() }
            throw .nameNotFound
        }
        var configuration = ConnectionPool.Configuration()
        configuration.dial.timeout = Interval(Self.short)
        let pool = ConnectionPool(configuration: configuration, group: group, resolver: resolver)
        let sink = RecordingSink()
        let exchange = Exchange(
            head: RequestHead(method: .get, target: .origin("/")),
            origin: LupineTransport.Origin(scheme: .http, host: "slow.test", port: 80), sink: sink)
        pool.submit(exchange)
        await sink.ended.wait()
        #expect(sink.failure?.isTimeOut(of: "slow.test", .connect) == true)
        release.withLock { $0 = true }
        await withCheckedContinuation { continuation in pool.shutDown { continuation.resume() } }
        await group.shutdown()
    }

    /// Content that waits for `100 Continue` does not count for the time-out of a peer that reads slowly.
    @Test(arguments: TestedHTTP.allCases) func heldContentIsNotTimedAsSending(over testedHTTP: TestedHTTP)
        async throws
    {
        let plan = ScriptPlan(
            .expectHead, .pause(.milliseconds(150)), .send("HTTP/1.1 100 Continue\r\n\r\n"), .expectBytes(4),
            .reply(), .stall)
        try await withStack(
            plan, over: testedHTTP,
            settings: .with {
                $0.idleWriteTimeout = .milliseconds(50)
                $0.continueTimeout = .seconds(60)
            }
        ) { client, origin in
            let request = try HTTPRequest(method: .post, url: origin.url + "/", body: .text("body"))
            let text = try await client.send(request).body.text()
            #expect(text == "ok")
        }
    }

    /// The wait for the first byte begins once the content that was held back has been sent.
    @Test(arguments: TestedHTTP.allCases) func theFirstByteAfterAnUnansweredExpectation(
        over testedHTTP: TestedHTTP
    )
        async throws
    {
        try await withStack(
            ScriptPlan(.expectHead, .expectBytes(4), .stall), over: testedHTTP,
            settings: .with {
                $0.continueTimeout = .milliseconds(10)
                $0.firstByteTimeout = Self.short
                $0.idleWriteTimeout = nil
            }
        ) { client, origin in
            let request = try HTTPRequest(method: .post, url: origin.url + "/", body: .text("body"))
            expect(.firstByte, await failure { () throws(TransportError) in try await client.send(request) })
        }
    }
}
