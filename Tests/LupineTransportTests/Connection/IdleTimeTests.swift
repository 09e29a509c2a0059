// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineOrigin
import LupineTLS
import LupineTestKit
import Testing

@testable import LupineTransport

/// The idle time covers everything from the look-up on, except the wait for a connection that is busy.
@Suite struct IdleTimeTests {
    private func options(_ idle: Interval) -> ExchangeOptions {
        ExchangeOptions(timeouts: TransferTimeouts(idle: idle))
    }

    @Test func anIdleTimeoutOfTenMilliseconds() async throws {
        try await withPool(ScriptPlan(.expectHead, .stall)) { stage in
            let sink = try await stage.send(options: options(.milliseconds(10)))
            #expect(sink.failure?.isTimeOut(of: "origin.test", .idle) == true)
        }
    }

    @Test("[U-14.2] a body that stops in the middle")
    func aBodyThatStops() async throws {
        let plan = ScriptPlan(.expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), .stall)
        let clock = ManualClock()
        try await withPool(plan, clock: clock) { stage in
            let contentReceived = Gate()
            let sink = RecordingSink(demand: { count in
                if count == 3 { contentReceived.open() }
                return .more
            })
            stage.pool.submit(try stage.exchange(options: options(.seconds(1)), sink: sink).exchange)
            await contentReceived.wait()
            await stage.settle()
            clock.advance(by: .seconds(60))
            for loop in stage.group.loops { loop.wake() }
            await sink.ended.wait()
            #expect(sink.failure?.isTimeOut(of: "origin.test", .idle) == true && sink.text == "abc")
        }
    }

    @Test func aPausedConsumerIsNotTimed() async throws {
        let clock = ManualClock()
        let plan = ScriptPlan(.expectHead, .reply("abc"), .stall)
        try await withPool(plan, clock: clock) { stage in
            let sink = RecordingSink(plan: { .pause })
            let pair = try stage.exchange(options: options(.seconds(1)), sink: sink)
            stage.pool.submit(pair.exchange)
            await sink.headReceived.wait()
            clock.advance(by: .seconds(60))
            for loop in stage.group.loops { loop.wake() }
            await stage.settle()
            #expect(sink.log.value.ends == 0)
            pair.exchange.resume()
            await sink.ended.wait()
            #expect(sink.text == "abc" && sink.failure == nil)
        }
    }

    /// A handshake that stalls: the socket is connected, but TLS is not established.
    @Test func aHandshakeThatStalls() async throws {
        let plan = ScriptPlan([Script([.expectBytes(1), .stall], on: .socket)])
        try await withPool(plan) { stage in
            let profile = TLSProfile(TLSConfiguration(), trust: .default)
            let key = LupineTransport.Origin(
                scheme: .https, host: "origin.test", port: stage.origin.port, tls: profile)
            var fields = Fields()
            try fields.append(.host, "origin.test")
            let sink = RecordingSink()
            stage.pool.submit(
                Exchange(
                    head: RequestHead(method: .get, target: .origin("/"), fields: fields), origin: key,
                    options: options(.milliseconds(50)), sink: sink))
            await sink.ended.wait()
            #expect(sink.failure?.isTimeOut(of: "origin.test", .idle) == true)
        }
    }

    /// The connection is busy with another request, and no further dial is allowed.
    @Test("[U-14.3] waiting for a busy connection is not timed")
    func waitingForABusyConnectionIsNotTimed() async throws {
        let clock = ManualClock()
        let plan = ScriptPlan(
            .expectHead, .signal("busy"), .waitForSignal("go"), .reply("one"), .expectHead, .reply("two"),
            .stall)
        try await withPool(plan, limits: PoolLimits(perHost: 1), clock: clock) { stage in
            let first = try stage.exchange()
            stage.pool.submit(first.exchange)
            await stage.origin.gate("busy").wait()
            let second = try stage.exchange(options: options(.seconds(1)))
            stage.pool.submit(second.exchange)
            for _ in 0..<5 {
                clock.advance(by: .seconds(60))
                for loop in stage.group.loops { loop.wake() }
                await stage.settle()
            }
            #expect(second.sink.log.value.ends == 0)
            stage.origin.gate("go").open()
            await second.sink.ended.wait()
            #expect(second.sink.text == "two" && first.sink.text == "one")
        }
    }

    /// A listener whose queue is full does not answer: the kernel drops further requests to connect.
    @Test("[U-14.6] a connect that hangs is timed", arguments: [1, 3])
    func aConnectThatHangs(_ exchanges: Int) async throws {
        let group = try EventLoopGroup(count: 1, name: "idle")
        let fullListener = try FullListener()
        var configuration = ConnectionPool.Configuration()
        configuration.dial.timeout = nil
        configuration.limits = PoolLimits(perHost: 1)
        var resolution = Resolver.Configuration()
        resolution.overrides[Resolver.Endpoint(host: "*", port: fullListener.port)] = [fullListener.address]
        let pool = ConnectionPool(
            configuration: configuration, group: group, resolver: Resolver(configuration: resolution))
        var sinks: [RecordingSink] = []
        for _ in 0..<exchanges {
            var fields = Fields()
            try fields.append(.host, "deaf.test")
            let sink = RecordingSink()
            sinks.append(sink)
            pool.submit(
                Exchange(
                    head: RequestHead(method: .get, target: .origin("/"), fields: fields),
                    origin: LupineTransport.Origin(scheme: .http, host: "deaf.test", port: fullListener.port),
                    options: options(.milliseconds(60)), sink: sink))
        }
        // The exchanges after the first are timed once a dial is made for them.
        for sink in sinks {
            await sink.ended.wait()
            #expect(sink.failure?.isTimeOut(of: "deaf.test", .idle) == true)
        }
        await withCheckedContinuation { continuation in pool.shutDown { continuation.resume() } }
        await group.shutdown()
    }
}

/// A listener that no further client can connect to: its queue is full, and the kernel drops requests to connect.
private final class FullListener: Sendable {
    let address: SocketAddress
    var port: UInt16 { address.port ?? 0 }
    private let listener: Handover
    private let clients: [Handover]

    init() throws {
        let any = try #require(SocketAddress(literal: "127.0.0.1", port: 0))
        let socket = try Socket.stream(for: any)
        try socket.bind(to: any)
        try socket.listen(backlog: 0)
        address = try #require(try socket.localAddress())
        var clients: [Handover] = []
        for _ in 0..<4 {
            let client = try Socket.stream(for: address)
            _ = try client.connect(to: address)
            clients.append(Handover(client))
        }
        self.clients = clients
        listener = Handover(socket)
    }

    deinit {
        _ = listener.take()
        for client in clients { _ = client.take() }
    }
}
