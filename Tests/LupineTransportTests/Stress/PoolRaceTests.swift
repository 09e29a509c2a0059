// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineOrigin
import LupineTestKit
import Testing

@testable import LupineTransport

/// Races of two events on one connection or exchange: no exchange may be lost, and none may end twice.
@Suite(.serialized, .timeLimit(.minutes(10))) struct PoolRaceTests {
    /// A server that closes after each response without announcing it: connections are closed as they are lent again.
    @Test func exchangesLentToDyingConnectionsAreSentAgain() async throws {
        let plan = ScriptPlan(.expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .close)
        try await withPool(plan, perHost: 4) { pool, _, _, port in
            let failures = await withTaskGroup(of: [String].self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        var failures: [String] = []
                        for _ in 0..<StressSize.dyingConnections / 8 {
                            let result = await Self.fetch(from: pool, port)
                            if case .failure(let error) = result { failures.append("\(error)") }
                        }
                        return failures
                    }
                }
                return await group.reduce(into: []) { $0 += $1 }
            }
            #expect(failures.isEmpty, "\(failures.count): \(failures.prefix(3))")
        }
    }

    /// The loop handles the reset and the cancellation in one turn, in this order.
    @Test func aCancellationThatMeetsAResetIsNotSentAgain() async throws {
        let answer = Script.Step.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        let plan = ScriptPlan([
            Script([.expectHead, answer, .expectHead, .signal("asked"), .waitForSignal("go"), .reset]),
            Script([.expectHead, answer, .stall]),
        ])
        try await withPool(plan, perHost: 1) { pool, loop, server, port in
            _ = try await Self.fetch(from: pool, port).get()
            let exchange = Box<Exchange?>(nil)
            let isReleased = Box(false)
            async let result = Self.fetch(from: pool, port) { newExchange in
                exchange.update { $0 = newExchange }
            }
            await server.gate("asked").wait()
            let isBlocked = Box(false)
            _ = loop.execute {
                isBlocked.update { $0 = true }
                while !isReleased.value {}
            }
            while !isBlocked.value { await Task.yield() }
            server.gate("go").open()
            await server.waitUntilEmpty()
            exchange.value?.cancel()
            isReleased.update { $0 = true }
            #expect(await result == .failure(.cancelled))
            #expect(server.counts.connectionsAccepted == 1)
        }
    }

    /// A queue of heads that the codec refuses: each exchange ends, and the stack does not grow with their number.
    @Test func aLongQueueOfRefusedHeadsEnds() async throws {
        try await withPool(ScriptPlan(.stall), perHost: 1) { pool, _, _, port in
            var fields = Fields()
            try fields.append(.host, "a")
            try fields.append(.transferEncoding, "gzip")
            let refusedFields = fields
            let refused = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<StressSize.refusals {
                    group.addTask {
                        if case .failure(.http) = await Self.fetch(from: pool, port, refusedFields) {
                            true
                        } else {
                            false
                        }
                    }
                }
                return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(refused == StressSize.refusals)
        }
    }

    /// A source that never supplies its content does not keep the socket open.
    @Test func aSilentSourceDoesNotKeepTheSocket() async throws {
        let plan = ScriptPlan(.expectHead, .signal("asked"), .expectEnd, .close)
        try await withPool(plan, perHost: 1) { pool, _, server, port in
            let exchange = Box<Exchange?>(nil)
            let source = SilentSource()
            async let result = Self.fetch(from: pool, port, content: .stream(source, length: nil)) {
                newExchange in
                exchange.update { $0 = newExchange }
            }
            await server.gate("asked").wait()
            exchange.value?.cancel()
            #expect(await result == .failure(.cancelled))
            // The script continues once the client has closed its socket, although the source still holds the reply.
            await server.waitUntilEmpty()
            #expect(source.isAsked)
            #expect(source.isAbandoned)
            source.forget()
        }
    }

    // MARK: the environment

    private func withPool(
        _ plan: ScriptPlan, perHost: Int,
        _ body: (ConnectionPool, EventLoop, OriginServer, UInt16) async throws -> Void
    ) async throws {
        var serving = OriginConfiguration()
        serving.script = plan
        let server = try OriginServer.start(configuration: serving)
        let group = try EventLoopGroup(count: perHost == 1 ? 1 : 3, name: "pool-race")
        var configuration = ConnectionPool.Configuration()
        configuration.limits.perHost = perHost
        let pool = ConnectionPool(configuration: configuration, group: group, resolver: Resolver())
        try await body(pool, group.loops[0], server, server.port)
        await withCheckedContinuation { done in pool.shutDown { done.resume() } }
        await group.shutdown()
        await server.shutdown()
    }

    private static func fetch(
        from pool: ConnectionPool, _ port: UInt16, _ fields: Fields? = nil, content: OutgoingContent = .none,
        _ onSubmit: (Exchange) -> Void = { _ in }
    ) async -> Result<Fields, TransportError> {
        await withCheckedContinuation { done in
            var defaultFields = Fields()
            try? defaultFields.append(.host, "a")
            let sink = StressSink({ _, _, _ in .more }) { sink in
                done.resume(returning: sink.outcome.withLock { $0.result } ?? .failure(.shutDown))
            }
            let isPost = if case .none = content { false } else { true }
            let exchange = Exchange(
                head: RequestHead(
                    method: isPost ? .put : .get, target: .origin("/"), fields: fields ?? defaultFields),
                content: content,
                origin: LupineTransport.Origin(scheme: .http, host: "127.0.0.1", port: port), sink: sink)
            onSubmit(exchange)
            pool.submit(exchange)
        }
    }
}

/// A source that never supplies its content.
private final class SilentSource: ContentSource {
    private let heldReply = Lock<(@Sendable (ContentPiece) -> Void)?>(nil)
    private let abandoned = Lock(false)

    let isReplayable = false
    var isAsked: Bool { heldReply.withLock { $0 != nil } }
    var isAbandoned: Bool { abandoned.withLock { $0 } }

    /// Releases the reply, which retains the exchange that retains this source.
    func forget() { heldReply.withLock { $0 = nil } }
    func rewind() -> Bool { false }
    func next(_ reply: @escaping @Sendable (ContentPiece) -> Void) { heldReply.withLock { $0 = reply } }
    func abandon() { abandoned.withLock { $0 = true } }
}
