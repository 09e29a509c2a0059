// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineOrigin
import LupineTestKit
import Testing

@testable import LupineTransport

/// The pool's choice of a connection for each exchange, over real sockets.
@Suite struct ConnectionPoolTests {
    // MARK: reuse

    @Test(arguments: TestedHTTP.allCases) func successiveExchangesShareAConnection(
        over testedHTTP: TestedHTTP
    )
        async throws
    {
        try await withPool(over: testedHTTP) { stage in
            for number in 0..<20 {
                let sink = try await stage.send(.get, "/bytes/\(number)")
                #expect(sink.failure == nil && sink.log.value.body.count == number)
                #expect(sink.metrics?.isReused == (number > 0))
            }
            #expect(stage.pool.connectionsOpened == 1 && stage.pool.idleCount == 1)
        }
    }

    @Test func idleConnectionsCloseAfterTheIdleTimeout() async throws {
        let plan = ScriptPlan(.expectHead, .reply(), .expectEnd, .signal("closed"), .stall)
        try await withPool(plan, limits: PoolLimits(idleTimeout: .milliseconds(1))) { stage in
            try await stage.send()
            await stage.origin.gate("closed").wait()
            await stage.settle()
            #expect(stage.pool.openCount == 0)
        }
    }

    @Test func theServersKeepAliveTimeoutShortensTheIdleTime() async throws {
        let plan = ScriptPlan(
            .expectHead, .reply("ok", "Keep-Alive: timeout=0\r\n"), .expectEnd, .signal("closed"), .stall)
        try await withPool(plan) { stage in
            try await stage.send()
            await stage.origin.gate("closed").wait()
            await stage.settle()
            #expect(stage.pool.openCount == 0)
        }
    }

    @Test func theServersKeepAliveMaximumApplies() async throws {
        let plan = ScriptPlan([
            Script([
                .expectHead, .reply("1", "Keep-Alive: timeout=60, max=1\r\n"), .expectHead,
                .reply("2", "Keep-Alive: timeout=60, max=0\r\n"), .expectEnd, .signal("closed"),
            ]),
            Script([.expectHead, .reply("3"), .stall]),
        ])
        try await withPool(plan) { stage in
            var texts: [String] = []
            for _ in 0..<3 { texts.append(try await stage.send().text) }
            #expect(texts == ["1", "2", "3"])
            await stage.origin.gate("closed").wait()
        }
    }

    @Test func aConnectionPastItsMaximumAgeIsNotLentAgain() async throws {
        try await withPool(limits: PoolLimits(maximumAge: .zero)) { stage in
            for _ in 0..<3 {
                let sink = try await stage.send(.get, "/get")
                #expect(sink.failure == nil)
            }
            #expect(stage.pool.connectionsOpened == 3)
        }
    }

    @Test("[U-9.14] waiters get the only connection by priority, which may change meanwhile")
    func priorities() async throws {
        let plan = ScriptPlan(
            .expectHead, .signal("busy"), .waitForSignal("go"), .reply(), .expectHead, .reply(), .expectHead,
            .reply(), .expectHead, .reply(), .expectHead, .reply(), .stall)
        try await withPool(plan, limits: PoolLimits(perHost: 1)) { stage in
            let first = try stage.exchange()
            stage.pool.submit(first.exchange)
            await stage.origin.gate("busy").wait()
            let others = try ["/a", "/b", "/c", "/d"].map { try stage.exchange(.get, $0) }
            others[1].exchange.priority = 0.75
            for other in others { stage.pool.submit(other.exchange) }
            others[0].exchange.priority = -1
            others[3].exchange.priority = 7
            others[2].exchange.priority = .nan
            #expect(others.map(\.exchange.priority) == [0, 0.75, 0.5, 1])
            stage.origin.gate("go").open()
            for pair in [first] + others { await pair.sink.ended.wait() }
            let heads = String(decoding: stage.origin.received(on: 0), as: UTF8.self)
                .split(separator: "\r\n").filter { $0.hasPrefix("GET ") }
            #expect(heads == ["/", "/d", "/b", "/c", "/a"].map { "GET \($0) HTTP/1.1" })
        }
    }

    @Test(arguments: ["Connection: close\r\n", "Connection: x, Close\r\n"])
    func aServerThatSaysClose(_ field: String) async throws {
        let plan = ScriptPlan(.expectHead, .reply("ok", field), .expectEnd, .signal("closed"), .stall)
        try await withPool(plan) { stage in
            let sink = try await stage.send()
            #expect(sink.text == "ok")
            await stage.origin.gate("closed").wait()
            #expect(stage.pool.idleCount == 0)
        }
    }

    // MARK: limits

    @Test func waitersAtTheHostsLimitRunInOrder() async throws {
        let plan = ScriptPlan(
            .expectHead, .signal("one"), .waitForSignal("go"), .reply("0"), .expectHead, .reply("1"),
            .expectHead, .reply("2"), .expectHead, .reply("3"), .stall)
        try await withPool(plan, limits: PoolLimits(perHost: 1)) { stage in
            var sinks: [RecordingSink] = []
            for _ in 0..<4 {
                let pair = try stage.exchange()
                stage.pool.submit(pair.exchange)
                sinks.append(pair.sink)
            }
            await stage.origin.gate("one").wait()
            stage.origin.gate("go").open()
            for sink in sinks { await sink.ended.wait() }
            #expect(sinks.map(\.text) == ["0", "1", "2", "3"])
            #expect(stage.pool.connectionsOpened == 1)
        }
    }

    /// Only one connection may be open in total: each is closed to make room for another host's, whichever loop it is on.
    @Test(arguments: [1, 3], TestedHTTP.allCases) func theTotalLimitIsSharedFairly(
        _ loops: Int, over testedHTTP: TestedHTTP
    ) async throws {
        try await withPool(over: testedHTTP, limits: PoolLimits(perHost: 1, total: 1), loops: loops) {
            stage in
            var sinks: [RecordingSink] = []
            for number in 0..<60 {
                let pair = try stage.exchange(.get, "/bytes/\(number)", host: "host\(number % 3).test")
                stage.pool.submit(pair.exchange)
                sinks.append(pair.sink)
            }
            for (number, sink) in sinks.enumerated() {
                await sink.ended.wait()
                #expect(sink.failure == nil && sink.log.value.body.count == number)
            }
            #expect(stage.pool.openCount <= 1)
        }
    }

    @Test(arguments: TestedHTTP.allCases) func manyExchangesShareEightConnections(over testedHTTP: TestedHTTP)
        async throws
    {
        try await withPool(over: testedHTTP, limits: PoolLimits(perHost: 8), loops: 3) { stage in
            var sinks: [RecordingSink] = []
            for number in 0..<500 {
                let pair = try stage.exchange(.get, "/bytes/\(number * 7)")
                stage.pool.submit(pair.exchange)
                sinks.append(pair.sink)
            }
            for (number, sink) in sinks.enumerated() {
                await sink.ended.wait()
                #expect(sink.failure == nil && sink.log.value.body.count == number * 7)
            }
            #expect(stage.pool.connectionsOpened <= 8)
            #expect(stage.origin.counts.connectionsAccepted <= 8)
        }
    }

    // MARK: connections that the peer closed

    @Test func aStaleConnectionIsReplacedOnce() async throws {
        let plan = ScriptPlan([
            Script([.expectHead, .reply("first"), .expectHead, .close]),
            Script([.expectHead, .reply("again"), .stall]),
        ])
        try await withPool(plan) { stage in
            try await stage.send()
            let sink = try await stage.send()
            #expect(sink.text == "again" && sink.log.value.ends == 1)
            #expect(sink.metrics?.wasReplayed == true && sink.metrics?.isReused == false)
            #expect(stage.pool.connectionsOpened == 2)
        }
    }

    @Test func aReplayIsNotReplayedAgain() async throws {
        let plan = ScriptPlan([
            Script([.expectHead, .reply("first"), .expectHead, .close]), Script([.expectHead, .close]),
        ])
        try await withPool(plan) { stage in
            try await stage.send()
            let sink = try await stage.send()
            #expect(
                sink.failure == .http(host: "origin.test", port: stage.origin.port, .truncated(.beforeHead)))
            #expect(sink.log.value.ends == 1 && stage.pool.connectionsOpened == 2)
        }
    }

    @Test(arguments: [Method.post, .patch]) func aRequestThatIsNotIdempotentIsNotReplayed(_ method: Method)
        async throws
    {
        let plan = ScriptPlan([
            Script([.expectHead, .reply("first"), .expectHead, .close]),
            Script([.expectHead, .reply(), .stall]),
        ])
        try await withPool(plan) { stage in
            try await stage.send()
            let sink = try await stage.send(method, content: .bytes([1]))
            #expect(sink.failure != nil)
            #expect(stage.pool.connectionsOpened == 1)
        }
    }

    @Test(arguments: [true, false]) func aStreamIsReplayedIfItCanRewind(_ rewinds: Bool) async throws {
        let plan = ScriptPlan([
            Script([.expectHead, .reply("first"), .expectHead, .expectBytes(3), .close]),
            Script([.expectHead, .expectBytes(3), .reply("again"), .stall]),
        ])
        try await withPool(plan) { stage in
            try await stage.send()
            let source = SinglePieceSource(Array("abc".utf8), rewinds: rewinds)
            let sink = try await stage.send(.put, content: .stream(source, length: 3))
            #expect(
                sink.failure
                    == (rewinds
                        ? nil : .http(host: "origin.test", port: stage.origin.port, .truncated(.beforeHead))))
            #expect(stage.pool.connectionsOpened == (rewinds ? 2 : 1))
            #expect(source.isAbandoned)
        }
    }

    @Test func anIdleConnectionThatThePeerClosesIsRemoved() async throws {
        let plan = ScriptPlan([
            Script([.expectHead, .reply("first"), .waitForSignal("die"), .close]),
            Script([.expectHead, .reply("second"), .stall]),
        ])
        try await withPool(plan) { stage in
            try await stage.send()
            stage.origin.gate("die").open()
            while stage.pool.idleCount > 0 { await Task.yield() }
            let sink = try await stage.send(.post, content: .bytes([1]))
            #expect(sink.text == "second" && sink.metrics?.wasReplayed == false)
        }
    }

    @Test func bytesOnAnIdleConnectionCloseIt() async throws {
        let plan = ScriptPlan([
            Script([.expectHead, .reply("first"), .waitForSignal("speak"), .reply("forged"), .expectEnd]),
            Script([.expectHead, .reply("second"), .stall]),
        ])
        try await withPool(plan) { stage in
            try await stage.send()
            stage.origin.gate("speak").open()
            while stage.pool.idleCount > 0 { await Task.yield() }
            #expect(try await stage.send().text == "second")
        }
    }

    /// The lengths let the response end exactly where a read ends, so that the bytes after it are not read with it.
    @Test(arguments: [0, 1, EventLoop.readBufferSize]) func bytesAfterAResponseCloseTheConnection(_ size: Int)
        async throws
    {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: "
        let body = max(0, size - head.utf8.count - 9)
        let response = head + "\(body)\r\n\r\n" + String(repeating: "a", count: body)
        let plan = ScriptPlan([
            Script([
                .expectHead, .send(response + "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"), .stall,
            ]),
            Script([.expectHead, .reply("second"), .stall]),
        ])
        try await withPool(plan, limits: PoolLimits(perHost: 1)) { stage in
            let first = try stage.exchange()
            let second = try stage.exchange()
            stage.pool.submit(first.exchange)
            stage.pool.submit(second.exchange)
            await first.sink.ended.wait()
            await second.sink.ended.wait()
            #expect(first.sink.log.value.body.count == body)
            #expect(second.sink.text == "second")
        }
    }

    // MARK: dials that fail

    @Test func aRefusedConnect() async throws {
        do {
            let sink = RecordingSink()
            let key = LupineTransport.Origin(scheme: .http, host: "127.0.0.2", port: 1)
            let group = try EventLoopGroup(count: 1, name: "refused")
            let pool = ConnectionPool(
                configuration: ConnectionPool.Configuration(), group: group, resolver: Resolver())
            pool.submit(
                Exchange(head: RequestHead(method: .get, target: .origin("/")), origin: key, sink: sink))
            await sink.ended.wait()
            guard case .unreachable("127.0.0.2", _, let failures)? = sink.failure else {
                Issue.record("\(String(describing: sink.failure))")
                return
            }
            #expect(failures.map(\.error) == [.connectionRefused])
            await withCheckedContinuation { continuation in pool.shutDown { continuation.resume() } }
            await group.shutdown()
        }
    }

    @Test func aThousandWaitersOnADeadHost() async throws {
        let group = try EventLoopGroup(count: 2, name: "dead")
        let lookUpCount = Lock(0)
        let resolver = Resolver { _, _ throws(ResolutionError) in
            lookUpCount.withLock { $0 += 1 }
            throw .nameNotFound
        }
        let pool = ConnectionPool(
            configuration: ConnectionPool.Configuration(), group: group, resolver: resolver)
        let key = LupineTransport.Origin(scheme: .http, host: "dead.test", port: 80)
        let sinks = (0..<1_000).map { _ in RecordingSink() }
        for sink in sinks {
            pool.submit(
                Exchange(head: RequestHead(method: .get, target: .origin("/")), origin: key, sink: sink))
        }
        for sink in sinks {
            await sink.ended.wait()
            #expect(sink.failure == .resolution(host: "dead.test", .nameNotFound))
        }
        #expect(sinks.allSatisfy { $0.log.value.ends == 1 })
        await withCheckedContinuation { continuation in pool.shutDown { continuation.resume() } }
        #expect(pool.openCount == 0)
        await group.shutdown()
    }

    /// Without a descriptor for a dial, idle connections on all loops are closed, and the dial is tried again.
    @Test(arguments: [1, 3]) func withoutDescriptorsIdleConnectionsMakeRoom(_ loops: Int) async throws {
        try await withPool(loops: loops) { stage in
            for host in 0..<3 { try await stage.send(.get, "/get", host: "idle\(host).test") }
            #expect(stage.pool.idleCount == 3)
            for loop in stage.group.loops {
                await loop.run { SyscallFaults.inject([.tooManyDescriptors], in: .socket) }
            }
            let sink = try await stage.send(.get, "/get", host: "new.test")
            var unusedFaults = 0
            for loop in stage.group.loops {
                unusedFaults += await loop.run { SyscallFaults.removeUnused(.socket) }
            }
            if unusedFaults == loops - 1 {
                #expect(sink.failure == nil)
            } else {
                // The second attempt was made on another loop, and met the fault planted there.
                #expect(sink.failure == .outOfDescriptors(.tooManyDescriptors))
            }
            await stage.settle()
            #expect(stage.pool.idleCount <= 1)
            #expect(try await stage.send(.get, "/get", host: "new.test").failure == nil)
        }
    }

    @Test func withoutDescriptorsAndIdleConnectionsTheExchangeFails() async throws {
        try await withPool { stage in
            await stage.group.loops[0].run { SyscallFaults.inject([.tooManyDescriptors], in: .socket) }
            let sink = try await stage.send(.get, "/get")
            #expect(sink.failure == .outOfDescriptors(.tooManyDescriptors))
            #expect(try await stage.send(.get, "/get").failure == nil)
        }
    }

    // MARK: the end

    @Test(arguments: [1, 3]) func shutDownEndsEverythingOnce(_ loops: Int) async throws {
        let origin = try OriginServer.start()
        origin.script("GET", "/stall", ScriptPlan(.signal("stalled"), .stall))
        let group = try EventLoopGroup(count: loops, name: "stage")
        let stage = PoolStage(origin, group, PoolLimits(perHost: 2))
        try await stage.send(.get, "/get", host: "idle.test")
        var sinks: [RecordingSink] = []
        for number in 0..<20 {
            let pair = try stage.exchange(
                .get, number % 2 == 0 ? "/stall" : "/infinite", host: "host\(number % 4).test",
                sink: RecordingSink(demand: { _ in .pause }))
            stage.pool.submit(pair.exchange)
            sinks.append(pair.sink)
        }
        await origin.gate("stalled").wait()
        // Dials that are in progress.
        for number in 0..<20 {
            let pair = try stage.exchange(.get, "/get", host: "late\(number).test")
            stage.pool.submit(pair.exchange)
            sinks.append(pair.sink)
        }
        let allSinks = sinks
        await withCheckedContinuation { continuation in stage.pool.shutDown { continuation.resume() } }
        for sink in allSinks.prefix(20) {
            await sink.ended.wait()
            #expect(sink.failure == .shutDown)
        }
        for sink in allSinks { await sink.ended.wait() }
        await stage.settle()
        #expect(allSinks.allSatisfy { $0.log.value.ends == 1 })
        #expect(stage.pool.openCount == 0 && group.loops.allSatisfy { $0.load == 0 })
        let late = try await stage.send(.get, "/get")
        #expect(late.failure == .shutDown)
        await group.shutdown()
        await origin.shutdown()
    }

    /// The response is read to its end, although the program has released the client.
    @Test func aReleasedClientLetsItsResponseEnd() async throws {
        let plan = ScriptPlan(
            .expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc"), .waitForSignal("rest"),
            .send("def"),
            .expectEnd, .signal("closed"), .stall)
        var configuration = OriginConfiguration()
        configuration.script = plan
        let origin = try OriginServer.start(configuration: configuration)
        var settings = HTTPClient.Configuration()
        settings.ownLoops = 1
        let response = try await HTTPClient(configuration: settings).get(origin.url + "/")
        origin.gate("rest").open()
        #expect(try await response.body.text() == "abcdef")
        await origin.gate("closed").wait()
        await origin.shutdown()
    }
}

/// A source that supplies its content in one piece and may be unable to rewind.
final class SinglePieceSource: ContentSource {
    private let bytes: [UInt8]
    let isReplayable: Bool
    private let state = Box((hasGivenBytes: false, isAbandoned: false))

    init(_ bytes: [UInt8], rewinds: Bool) {
        self.bytes = bytes
        isReplayable = rewinds
    }

    var isAbandoned: Bool { state.value.isAbandoned }

    func next(_ reply: @escaping @Sendable (ContentPiece) -> Void) {
        let hasGivenBytes = state.value.hasGivenBytes
        state.update { $0.hasGivenBytes = true }
        reply(hasGivenBytes ? .end(trailers: Fields()) : .bytes(bytes))
    }

    func rewind() -> Bool {
        state.update { $0.hasGivenBytes = false }
        return isReplayable
    }

    func abandon() { state.update { $0.isAbandoned = true } }
}
