// SPDX-License-Identifier: MIT

import Dispatch
import LupineHTTP
import LupineOrigin
import LupineTLS
import LupineTestKit
import Testing

@testable import LupineTransport

/// The events that a client's observers receive, however a transfer ends.
@Suite(.timeLimit(.minutes(10))) struct TransferObserverTests {
    private static func settings(
        _ observers: [any TransferObserver], _ change: (inout HTTPClient.Configuration) -> Void = { _ in }
    ) -> HTTPClient.Configuration {
        .with { settings in
            settings.transferObservers = observers
            change(&settings)
        }
    }

    // MARK: in order

    @Test(
        "[U-21.1] a transfer has a start, a dial if needed, a lease, a head and an end",
        arguments: TestedHTTP.allCases
    )
    func eventsInOrder(over testedHTTP: TestedHTTP) async throws {
        let observer = RecordingObserver()
        try await withStack(over: testedHTTP, settings: Self.settings([observer])) { client, origin in
            var request = try HTTPRequest(method: .post, url: origin.url + "/post?a=1")
            request.body = .text("lupin")
            _ = try await client.send(request).body.collect()
            await observer.waitForEnds(1)
            _ = try await client.get(origin.url + "/status/404").body.collect()
            await observer.waitForEnds(2)
            #expect(
                observer.names == [
                    ["start", "dial", "lease", "head", "end"], ["start", "lease", "head", "end"],
                ])
            let (id, start) = try #require(observer.starts.first)
            #expect(start.method == .post && start.target == "/post?a=1" && start.scheme == "http")
            #expect(start.url == origin.url + "/post?a=1" && start.port == origin.port)
            #expect(start.contentLength == 5 && start.cause == .request && start.taskIdentifier == nil)
            #expect(start.fields.contains(.host) && start.proxy == nil)
            #expect(
                observer.starts[1].id.rawValue > id.rawValue && observer.starts[1].start.contentLength == 0)
            let dial = try #require(observer.dials.first)
            #expect(dial.host == "127.0.0.1" && dial.port == origin.port && dial.address == origin.address)
            #expect(dial.tlsVersion == nil && dial.handshake == nil && dial.lookUp == nil)
            #expect(dial.duration >= .zero)
            #expect(observer.leases.map(\.isReused) == [false, true])
            #expect(observer.leases.allSatisfy { !$0.isReplay && $0.waited >= .zero })
            #expect(observer.leases.allSatisfy { $0.remoteAddress == origin.address })
            #expect(observer.heads.map(\.status.code) == [200, 404])
            #expect(
                observer.heads.allSatisfy {
                    $0.version == (testedHTTP == .http1 ? .http11 : .http2) && $0.timeToFirstByte > .zero
                })
            let end = try #require(observer.ends.first)
            #expect(end.outcome == .completed && end.status?.code == 200 && end.error == nil)
            #expect(end.start.target == start.target && end.duration >= observer.heads[0].timeToFirstByte)
            #expect(end.metrics.requestBodyBytesSent == 5 && end.metrics.responseBodyBytesReceived > 0)
            #expect(observer.ends.map(\.metrics.isReusedConnection) == [false, true])
            #expect(observer.violations.isEmpty)
        }
    }

    @Test("[U-21.1] over TLS the dial reports what was negotiated")
    func overTLS() async throws {
        let observer = RecordingObserver()
        try await withSecureStack(settings: .with { $0.transferObservers = [observer] }) { client, origin in
            _ = try await client.get(SecureStage.url(origin, "/get")).body.collect()
            await observer.waitForEnds(1)
            let dial = try #require(observer.dials.first)
            #expect(dial.tlsVersion == .v1_3 && dial.tlsCipherSuite != nil && !dial.isTLSResumed)
            #expect((dial.handshake ?? .zero) > .zero && dial.duration >= dial.handshake ?? .zero)
            #expect(dial.host == "good.test" && observer.starts.first?.start.scheme == "https")
            #expect(observer.starts.first?.start.url == SecureStage.url(origin, "/get"))
        }
    }

    @Test("[U-21.2] each redirect is a transfer that names the one before", arguments: TestedHTTP.allCases)
    func redirects(over testedHTTP: TestedHTTP) async throws {
        let observer = RecordingObserver()
        try await withStack(over: testedHTTP, settings: Self.settings([observer]) { $0.redirectLimit = 5 }) {
            client, origin in
            _ = try await client.get(origin.url + "/redirect/2").body.collect()
            await observer.waitForEnds(3)
            let ids = observer.starts.map(\.id)
            #expect(Set(ids).count == 3)
            #expect(
                observer.starts.map(\.start.cause) == [
                    .request, .redirect(after: ids[0]), .redirect(after: ids[1]),
                ])
            #expect(observer.starts.map(\.start.cause.previous) == [nil, ids[0], ids[1]])
            #expect(observer.ends.map(\.status?.code) == [302, 302, 200])
            // A transfer has ended before the next one begins.
            #expect(observer.violations.isEmpty)
        }
    }

    @Test(
        "[U-21.2] a replay after the loss of a reused connection belongs to the same transfer",
        arguments: TestedHTTP.allCases)
    func replays(over testedHTTP: TestedHTTP) async throws {
        let observer = RecordingObserver()
        let plan = ScriptPlan([
            Script([.expectHead, .reply("one"), .expectHead, .close]),
            Script([.expectHead, .reply("two"), .stall]),
        ])
        try await withStack(plan, over: testedHTTP, settings: Self.settings([observer])) { client, origin in
            let texts = [
                try await client.get(origin.url + "/").body.text(),
                try await client.get(origin.url + "/").body.text(),
            ]
            #expect(texts == ["one", "two"])
            await observer.waitForEnds(2)
            #expect(observer.names[1] == ["start", "lease", "dial", "lease", "head", "end"])
            #expect(observer.leases.map(\.isReplay) == [false, false, true])
            #expect(observer.leases.map(\.isReused) == [false, true, false])
            #expect(observer.ends.map(\.metrics.wasReplayed) == [false, true])
        }
    }

    // MARK: every end

    /// A way in which a transfer may end.
    struct Ending: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let steps: [Script.Step]
        /// The names of the events, from the first to the last.
        let names: [String]
        let outcome: @Sendable (TransferEnd.Outcome) -> Bool
        var change: @Sendable (inout HTTPClient.Configuration) -> Void = { _ in }
        var isCancelled = false

        static let full = ["start", "dial", "lease", "head", "end"]
        static let headless = ["start", "dial", "lease", "end"]
    }

    private static let endings = [
        Ending(
            testDescription: "in order", steps: [.expectHead, .reply("ok"), .stall], names: Ending.full,
            outcome: { $0 == .completed }),
        Ending(
            testDescription: "with another field", steps: [.expectHead, .reply("ok", "X: 1\r\n"), .stall],
            names: Ending.full, outcome: { $0 == .completed }),
        Ending(
            testDescription: "closed before the head", steps: [.expectHead, .close], names: Ending.headless,
            outcome: { if case .failed(.http) = $0 { true } else { false } }),
        Ending(
            testDescription: "closed in the body",
            steps: [.expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nlup"), .close],
            names: Ending.full, outcome: { if case .failed(.http) = $0 { true } else { false } }),
        Ending(
            testDescription: "no HTTP", steps: [.expectHead, .send("what?\r\n\r\n"), .stall],
            names: Ending.headless, outcome: { if case .failed(.http) = $0 { true } else { false } }),
        Ending(
            testDescription: "a time-out", steps: [.expectHead, .stall], names: Ending.headless,
            outcome: { if case .failed(.timedOut(_, _, .firstByte, _)) = $0 { true } else { false } },
            change: { $0.firstByteTimeout = .milliseconds(20) }),
        Ending(
            testDescription: "cancelled", steps: [.expectHead, .signal("asked"), .stall],
            names: Ending.headless,
            outcome: { $0 == .cancelled }, isCancelled: true),
    ]

    @Test("[U-21.1] every start has one end", arguments: endings)
    func endsOnce(_ row: Ending) async throws {
        let observer = RecordingObserver()
        try await withStack(ScriptPlan([Script(row.steps)]), settings: Self.settings([observer], row.change))
        {
            client, origin in
            let task = Task { try await client.get(origin.url + "/").body.collect() }
            if row.isCancelled {
                await origin.gate("asked").wait()
                task.cancel()
            }
            _ = await task.result
            await observer.waitForEnds(1)
            await client.shutdown()
            #expect(observer.names == [row.names])
            let end = try #require(observer.ends.first)
            #expect(row.outcome(end.outcome), "\(end.outcome)")
            #expect(end.metrics.isReusedConnection == false)
        }
    }

    @Test("[U-21.1] a transfer that gets no connection starts and ends")
    func noConnection() async throws {
        // The socket is bound but does not listen, so that no other program gets the port meanwhile.
        let loopback = try #require(SocketAddress(literal: "127.0.0.1", port: 0))
        let socket = try Socket.stream(for: loopback)
        try socket.bind(to: loopback)
        let port = try #require(try socket.localAddress()?.port)
        let url = "http://127.0.0.1:\(port)/"
        let observer = RecordingObserver()
        let client = HTTPClient(configuration: Self.settings([observer]))
        let error = await failure { () async throws(TransportError) in try await client.get(url) }
        await client.shutdown()
        #expect(observer.names == [["start", "end"]])
        #expect(observer.ends.first?.error == error && error != nil)
        if case .unreachable? = error {} else { Issue.record("\(String(describing: error))") }
        socket.close()
    }

    @Test(
        "[U-21.1] a shutdown returns when the ends of all transfers have been reported",
        arguments: TestedHTTP.allCases)
    func shutdown(over testedHTTP: TestedHTTP) async throws {
        let observer = RecordingObserver()
        let count = 20
        try await withStack(
            ScriptPlan([Script([.expectHead, .stall])]), over: testedHTTP,
            settings: Self.settings([observer]) { $0.connectionsPerHost = 3 }
        ) { client, origin in
            let tasks = (0..<count).map { _ in
                Task { try await client.get(origin.url + "/").body.collect() }
            }
            await observer.waitForEvents("start", count)
            await observer.waitForEvents("lease", 3)
            await client.shutdown()
            #expect(observer.ends.count == count && observer.ends.allSatisfy { $0.outcome == .cancelled })
            #expect(observer.violations.isEmpty)
            for task in tasks { _ = await task.result }
            // After the shutdown, a transfer that starts also ends.
            _ = await failure { () async throws(TransportError) in try await client.get(origin.url + "/") }
            await observer.waitForEnds(count + 1)
            #expect(observer.violations.isEmpty)
        }
    }

    @Test("[U-21.1] in a storm of cancelled requests every start has one end", arguments: TestedHTTP.allCases)
    func storm(over testedHTTP: TestedHTTP) async throws {
        let observer = RecordingObserver()
        let count = 200
        try await withStack(over: testedHTTP, settings: Self.settings([observer]) { $0.ownLoops = 2 }) {
            client, origin in
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<count {
                    group.addTask {
                        let task = Task {
                            try await client.get(origin.url + "/bytes/\(number)").body.collect()
                        }
                        for _ in 0..<number % 7 { await Task.yield() }
                        if number % 3 > 0 { task.cancel() }
                        _ = await task.result
                    }
                }
            }
            await client.shutdown()
            #expect(observer.starts.count == observer.ends.count && observer.violations.isEmpty)
            #expect(Set(observer.starts.map(\.id)).count == observer.starts.count)
        }
    }

    // MARK: where it is called

    @Test(
        "[U-21.3, O-7] an observer that blocks delays no request, and receives every event later",
        arguments: TestedHTTP.allCases)
    func blocks(over testedHTTP: TestedHTTP) async throws {
        let release = DispatchSemaphore(value: 0)
        let observer = RecordingObserver { event in
            #expect(EventLoop.current == nil)
            if case .start = event.kind { release.wait() }
        }
        try await withStack(over: testedHTTP, settings: Self.settings([observer])) { client, origin in
            for _ in 0..<3 {
                let body = try await client.get(origin.url + "/get").body.collect()
                #expect(!body.isEmpty)
            }
            #expect(observer.events.isEmpty)
            for _ in 0..<3 { release.signal() }
            await observer.waitForEnds(3)
            #expect(observer.violations.isEmpty)
        }
    }

    @Test("[U-21.3, O-6] an observer may use the client that it observes", arguments: TestedHTTP.allCases)
    func callsBack(over testedHTTP: TestedHTTP) async throws {
        let client = Box<HTTPClient?>(nil)
        let (tasks, task) = AsyncStream.makeStream(of: Task<Int, any Error>.self)
        let calls = Box(0)
        let observer = RecordingObserver { event in
            guard case .end(let end) = event.kind, let client = client.value, calls.value == 0 else { return }
            calls.update { $0 += 1 }
            #expect(client.poolCounts().count == 1 && client.connectionsOpened == 1)
            task.yield(Task { try await Int(client.get(end.start.url).status.code) })
        }
        try await withStack(over: testedHTTP, settings: Self.settings([observer])) { newClient, origin in
            client.update { $0 = newClient }
            _ = try await newClient.get(origin.url + "/get").body.collect()
            var iterator = tasks.makeAsyncIterator()
            let status = try await iterator.next()?.value
            #expect(status == 200)
            client.update { $0 = nil }
        }
    }

    @Test(
        "[U-21.3] several observers receive every event, one call at a time",
        arguments: TestedHTTP.allCases)
    func several(over testedHTTP: TestedHTTP) async throws {
        let runningCalls = Box(0)
        let order = Box<[Int]>([])
        let observers = (0..<3).map { number in
            RecordingObserver { _ in
                runningCalls.update { $0 += 1 }
                #expect(runningCalls.value == 1)
                order.update { $0.append(number) }
                runningCalls.update { $0 -= 1 }
            }
        }
        try await withStack(over: testedHTTP, settings: Self.settings(observers) { $0.ownLoops = 2 }) {
            client, origin in
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<20 {
                    group.addTask { _ = try? await client.get(origin.url + "/get").body.collect() }
                }
            }
            await client.shutdown()
            for observer in observers {
                #expect(observer.ends.count == 20 && observer.violations.isEmpty)
                #expect(observer.names.count == 20)
            }
            #expect(order.value.count % 3 == 0)
            #expect(order.value.enumerated().allSatisfy { $0.element == $0.offset % 3 })
        }
    }

    @Test("[U-21.3] observers are released with their client, and their thread ends")
    func release() async throws {
        final class ReleasedObserver: TransferObserver {
            let released: Gate
            init(_ released: Gate) { self.released = released }
            deinit { released.open() }
        }
        let released = Gate()
        let origin = try OriginServer.start()
        do {
            let client = HTTPClient(configuration: Self.settings([ReleasedObserver(released)]))
            _ = try await client.get(origin.url + "/get").body.collect()
            await client.shutdown()
        }
        await released.wait()
        await origin.shutdown()
    }
}
