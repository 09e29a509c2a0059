// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineOrigin
import LupineTestKit
import LupineTransport
import Testing

@testable import LupineLoading

/// Time, suspension and cancellation of loads, which leave nothing behind.
@Suite struct LoadControlTests {
    enum Step: CaseIterable {
        case beforeStart, afterStart, sent, sending, paused, reading, suspended, asking, stream
    }

    @Test(
        "[U-6.5, U-6.7] a cancelled load ends once in every state, with the given error, and closes the connection",
        arguments: Step.allCases, TestedHTTP.allCases)
    func cancelled(_ step: Step, over testedHTTP: TestedHTTP) async throws {
        let plan: ScriptPlan =
            switch step {
            case .paused, .reading, .suspended:
                ScriptPlan(.expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), .expectEnd)
            case .sending, .stream:
                // Reads nothing before the cancellation; then `expectEnd` reads the octets that were sent, and the end after
                // them.
                ScriptPlan(.expectHead, .signal("head"), .waitForSignal("cancelled"), .expectEnd)
            case .beforeStart, .afterStart, .sent, .asking:
                ScriptPlan(.expectHead, .signal("head"), .expectEnd)
            }
        try await withLoads(plan, over: testedHTTP) { stage in
            let client = RecordingHopClient(
                plan: { _ in step == .paused ? .pause : .deliver },
                stream: { _ in
                    if step == .asking { return nil }
                    return InputStream(data: Data(repeating: 1, count: 64 << 20))
                })
            var hop = HopRequest(request: try stage.request())
            if step == .sending {
                hop = HopRequest(
                    request: try stage.request(method: "PUT"),
                    body: .data(Data(repeating: 1, count: 64 << 20)))
            }
            if step == .stream || step == .asking {
                hop = HopRequest(request: try stage.request(method: "PUT"), body: .streamed)
            }
            let load = stage.load(hop, client)
            if step != .beforeStart { load.start() }
            switch step {
            case .beforeStart, .afterStart, .asking: break
            case .sent, .sending, .stream: await stage.origin.gate("head").wait()
            case .paused: await client.responseReceived.wait()
            case .reading: await client.dataReceived.wait()
            case .suspended:
                await client.dataReceived.wait()
                load.setSuspended(true)
            }
            load.cancel(.loading(.cancelled, url: nil, reason: "mine"))
            load.cancel(.loading(.timedOut, url: nil, reason: "late"))
            stage.origin.gate("cancelled").open()
            if step == .beforeStart { load.start() }
            let log = await client.end()
            let code: URLError.Code = step == .asking ? .requestBodyStreamExhausted : .cancelled
            #expect(log.ends == 1 && log.error?.code == code && log.overlaps == 0)
            while stage.origin.counts.connectionsOpen > 0, step != .afterStart { await Task.yield() }
        }
    }

    /// Checks that a cancellation inside a call of the client does not report the end within that call.
    @Test(arguments: TestedHTTP.allCases) func cancelledByItsClient(over testedHTTP: TestedHTTP) async throws
    {
        try await withLoads(ScriptPlan(.expectHead, .reply("abc"), .stall), over: testedHTTP) { stage in
            let box = Box<NetworkLoad?>(nil)
            let client = RecordingHopClient(plan: { _ in
                box.value?.cancel(.cancelled(url: nil))
                return .deliver
            })
            let load = stage.load(HopRequest(request: try stage.request()), client)
            box.update { $0 = load }
            load.start()
            let log = await client.end()
            box.update { $0 = nil }
            #expect(log.order == ["response", "end"] && log.overlaps == 0 && log.error?.code == .cancelled)
        }
    }

    /// U-6.4: nothing moves while the load is suspended, and everything afterwards.
    @Test(arguments: TestedHTTP.allCases) func suspended(over testedHTTP: TestedHTTP) async throws {
        let body = (0..<2_000_000).map { UInt8(truncatingIfNeeded: $0) }
        try await withLoads(ScriptPlan(.expectHead, .reply(body), .stall), over: testedHTTP) { stage in
            let box = Box<NetworkLoad?>(nil)
            let stopped = Gate()
            let client = RecordingHopClient(demand: { count in
                if count <= ContentCollector.pieceLimit {
                    box.value?.setSuspended(true)
                    stopped.open()
                }
                return .more
            })
            let load = stage.load(HopRequest(request: try stage.request()), client)
            box.update { $0 = load }
            load.start()
            await stopped.wait()
            for _ in 0..<200 { await Task.yield() }
            #expect(client.currentLog.body.count < 200_000 && client.currentLog.ends == 0)
            load.setSuspended(false)
            let log = await client.end()
            box.update { $0 = nil }
            #expect(log.body == Data(body) && log.error == nil)
        }
    }

    @Test(arguments: TestedHTTP.allCases) func suspendedBeforeItBegins(over testedHTTP: TestedHTTP)
        async throws
    {
        try await withLoads(ScriptPlan(.expectHead, .reply(), .stall), over: testedHTTP) { stage in
            let client = RecordingHopClient()
            let load = stage.load(HopRequest(request: try stage.request()), client)
            load.setSuspended(true)
            load.start()
            while stage.origin.counts.connectionsAccepted == 0 { await Task.yield() }
            for _ in 0..<100 { await Task.yield() }
            #expect(client.currentLog.order.isEmpty && stage.wire() == "")
            load.setSuspended(false)
            #expect(await client.end().text == "ok")
        }
    }

    @Test(
        "[U-14.1, U-14.2] the request's time-out, fractions too; each hop has its own",
        arguments: [false, true],
        TestedHTTP.allCases)
    func timedOut(_ byRequest: Bool, over testedHTTP: TestedHTTP) async throws {
        try await withLoads(
            ScriptPlan(.expectHead, .stall),
            configuration: .with { $0.timeoutIntervalForRequest = byRequest ? 600 : 0.01 }, over: testedHTTP
        ) { stage in
            var request = try stage.request()
            if byRequest { request.timeoutInterval = 0.01 }
            let log = await stage.send(HopRequest(request: request))
            #expect(log.error?.code == .timedOut && log.order == ["end"])
        }
    }

    @Test(arguments: TestedHTTP.allCases) func theResourceTimeoutExpires(over testedHTTP: TestedHTTP)
        async throws
    {
        try await withLoads(ScriptPlan(.expectHead, .stall), over: testedHTTP) { stage in
            let hop = HopRequest(request: try stage.request(), wholeTimeout: .milliseconds(20))
            #expect(await stage.send(hop).error?.code == .timedOut)
        }
    }

    @Test("[U-9.14] the highest priority first")
    func priorities() async throws {
        let plan = ScriptPlan(
            .expectHead, .signal("busy"), .waitForSignal("go"), .reply("1"), .expectHead, .reply("2"),
            .expectHead,
            .reply("3"), .stall)
        try await withLoads(plan, configuration: .with { $0.httpMaximumConnectionsPerHost = 1 }) { stage in
            let clients = (0..<3).map { _ in RecordingHopClient() }
            let loads = try clients.map { stage.load(HopRequest(request: try stage.request()), $0) }
            loads[0].start()
            await stage.origin.gate("busy").wait()
            loads[1].start()
            loads[2].start()
            loads[2].setPriority(0.9)
            stage.origin.gate("go").open()
            var texts: [String] = []
            for client in clients { texts.append(await client.end().text) }
            #expect(texts == ["1", "3", "2"])
        }
    }

    /// Checks the metrics: times, byte counts, and the connection.
    @Test(arguments: TestedHTTP.allCases) func metrics(over testedHTTP: TestedHTTP) async throws {
        let plan = ScriptPlan(.expectHead, .expectBytes(3), .reply("one"), .expectHead, .reply("two"), .stall)
        try await withLoads(plan, over: testedHTTP) { stage in
            let first = try await stage.send(method: "PUT", body: Data("abc".utf8))
            let metrics = try #require(first.metrics)
            #expect(metrics.fetchStart <= metrics.end && metrics.response === first.response)
            #expect(metrics.request.httpMethod == "PUT" && metrics.fetchType == .networkLoad)
            #expect(metrics.bodyBytesBeforeEncoding == 3 && metrics.bodyBytesAfterDecoding == 3)
            let exchange = try #require(metrics.exchanges.first)
            #expect(metrics.exchanges.count == 1 && !exchange.isReused && exchange.dial != nil)
            #expect(try await stage.send().metrics?.exchanges.first?.isReused == true)
        }
    }
}

/// A value that closures share.
private final class Box<Value: Sendable>: Sendable {
    private let storage: Lock<Value>
    init(_ value: Value) { storage = Lock(value) }
    var value: Value { storage.withLock { $0 } }
    func update(_ change: (inout Value) -> Void) { storage.withLock { value in change(&value) } }
}
