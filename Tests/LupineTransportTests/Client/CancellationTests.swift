// SPDX-License-Identifier: MIT

import Glibc
import LupineHTTP
import LupineOrigin
import LupineTestKit
import Testing

@testable import LupineTransport

/// A cancelled task fails with `.cancelled`, at whatever stage its request is, and the origin sees the connection end.
@Suite struct CancellationTests {
    @Test(arguments: TestedHTTP.allCases) func beforeItIsSubmitted(over testedHTTP: TestedHTTP) async throws {
        try await withStack(over: testedHTTP) { client, origin in
            let go = Gate()
            let task = Task {
                await go.wait()
                return await failure { () throws(TransportError) in try await client.get(origin.url + "/get")
                }
            }
            task.cancel()
            go.open()
            #expect(await task.value == .cancelled)
            #expect(origin.counts.requests == 0)
        }
    }

    /// Over HTTP/2, the server allows one stream at a time, which the client knows once the first request has been answered.
    @Test(arguments: TestedHTTP.allCases) func waitingForAConnection(over testedHTTP: TestedHTTP) async throws
    {
        var http2 = HTTP2Behaviour()
        http2.maxConcurrentStreams = 1
        try await withStack(
            ScriptPlan(
                .expectHead, .reply("zeroth"), .expectHead, .signal("busy"), .waitForSignal("go"), .reply(),
                .expectHead, .reply("third"), .stall), over: testedHTTP, http2: http2,
            settings: .with { $0.connectionsPerHost = 1 }
        ) { client, origin in
            let url = origin.url + "/"
            #expect(try await client.get(url).body.text() == "zeroth")
            let first = Task { try await client.get(url).body.text() }
            await origin.gate("busy").wait()
            let second = Task {
                await failure { () throws(TransportError) in try await client.get(url) }
            }
            let third = Task { try await client.get(url).body.text() }
            second.cancel()
            #expect(await second.value == .cancelled)
            origin.gate("go").open()
            let answers = try await [first.value, third.value]
            #expect(answers == ["ok", "third"])
            #expect(client.connectionsOpened == 1)
        }
    }

    /// Cancels during a look-up that does not answer, which stands for every slow dial.
    @Test func dialing() async throws {
        let group = try EventLoopGroup(count: 1, name: "stage")
        let asked = Gate()
        let release = Lock(false)
        let resolver = Resolver { _, _ throws(ResolutionError) in
            asked.open()
            while !release.withLock({ $0 }) { sched_yield() }
            throw .nameNotFound
        }
        let pool = ConnectionPool(
            configuration: ConnectionPool.Configuration(), group: group, resolver: resolver)
        let sink = RecordingSink()
        let exchange = Exchange(
            head: RequestHead(method: .get, target: .origin("/")),
            origin: LupineTransport.Origin(scheme: .http, host: "slow.test", port: 80), sink: sink)
        pool.submit(exchange)
        await asked.wait()
        exchange.cancel()
        await sink.ended.wait()
        #expect(sink.failure == .cancelled)
        await withCheckedContinuation { continuation in pool.shutDown { continuation.resume() } }
        #expect(pool.openCount == 0)
        release.withLock { $0 = true }
        await group.shutdown()
        #expect(sink.log.value.ends == 1)
    }

    @Test(arguments: TestedHTTP.allCases) func awaitingTheHead(over testedHTTP: TestedHTTP) async throws {
        let plan = ScriptPlan(.expectHead, .signal("asked"), .expectEnd, .signal("gone"), .stall)
        try await withStack(plan, over: testedHTTP) { client, origin in
            let task = Task {
                await failure { () throws(TransportError) in try await client.get(origin.url + "/") }
            }
            await origin.gate("asked").wait()
            task.cancel()
            #expect(await task.value == .cancelled)
            await origin.gate("gone").wait()
        }
    }

    @Test(arguments: TestedHTTP.allCases) func inTheMiddleOfTheBody(over testedHTTP: TestedHTTP) async throws
    {
        let plan = ScriptPlan(
            .expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc"), .expectEnd,
            .signal("gone"),
            .stall)
        try await withStack(plan, over: testedHTTP) { client, origin in
            let began = Gate()
            let task = Task {
                do throws(TransportError) {
                    let response = try await client.get(origin.url + "/")
                    for try await _ in response.body { began.open() }
                    return TransportError?.none
                } catch { return error }
            }
            await began.wait()
            task.cancel()
            #expect(await task.value == .cancelled)
            await origin.gate("gone").wait()
        }
    }

    /// Cancels while the content source has not answered: the exchange ends and the socket closes without waiting for it.
    @Test(arguments: TestedHTTP.allCases) func whileItsContentIsAwaited(over testedHTTP: TestedHTTP)
        async throws
    {
        let plan = ScriptPlan(.expectHead, .expectEnd, .signal("gone"), .stall)
        try await withStack(plan, over: testedHTTP) { client, origin in
            let asked = Gate()
            let held = Gate()
            let request = try HTTPRequest(
                method: .post, url: origin.url + "/",
                body: .stream(length: nil) {
                    asked.open()
                    await held.wait()
                    return nil
                })
            let task = Task { await failure { () throws(TransportError) in try await client.send(request) } }
            await asked.wait()
            task.cancel()
            #expect(await task.value == .cancelled)
            await origin.gate("gone").wait()
            held.open()
        }
    }

    /// Cancels a thousand exchanges at random moments from other threads: each ends once, and the pool still works afterwards.
    @Test(arguments: TestedHTTP.allCases) func aThousandTimesAtAnyMoment(over testedHTTP: TestedHTTP)
        async throws
    {
        try await withPool(over: testedHTTP, limits: PoolLimits(perHost: 4), loops: 2) { stage in
            var random = SeededRandom(seed: 5)
            for _ in 0..<20 {
                var sinks: [RecordingSink] = []
                for _ in 0..<50 {
                    let pair = try stage.exchange(
                        .get, ["/bytes/100000", "/get", "/chunked/20"].randomElement(using: &random) ?? "/")
                    sinks.append(pair.sink)
                    stage.pool.submit(pair.exchange)
                    let yieldCount = Int.random(in: 0..<400, using: &random)
                    Task.detached {
                        for _ in 0..<yieldCount { sched_yield() }
                        pair.exchange.cancel()
                    }
                    if Int.random(in: 0..<3, using: &random) == 0 { await Task.yield() }
                }
                for sink in sinks { await sink.ended.wait() }
                for sink in sinks { #expect(sink.log.value.ends == 1) }
            }
            let last = try await stage.send(.get, "/get")
            #expect(last.failure == nil)
        }
    }
}
