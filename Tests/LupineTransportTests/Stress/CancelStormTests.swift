// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineOrigin
import LupineTestKit
import Testing

@testable import LupineTransport

/// Cancels exchanges at fifty points of their lives, on their loop and from other threads, and checks that nothing is left.
@Suite(.serialized, .timeLimit(.minutes(10))) struct CancelStormTests {
    /// A moment in the life of an exchange, how often it occurs before the cancellation, and a kind of exchange in which it
    /// occurs.
    struct Point: Sendable {
        let moment: StressSink.Moment
        let occurrence: Int
        let shape: CancelRun.Shape
        let isOnLoop: Bool

        private typealias Row = (moment: StressSink.Moment, occurrences: Int, shape: CancelRun.Shape)
        private static let rows: [Row] = [
            (.beforeSubmit, 1, .length), (.afterSubmit, 3, .length), (.supplying, 5, .stream),
            (.sent, 4, .stream), (.sent, 1, .upload), (.interim, 1, .announced), (.supplying, 1, .announced),
            (.arrived, 1, .held), (.head, 1, .length), (.head, 1, .stream), (.content, 5, .chunked),
            (.paused, 5, .chunked), (.ending, 1, .chunked),
        ]

        static let all: [Point] = rows.flatMap { row in
            (0..<row.occurrences).flatMap { occurrence in
                [true, false].map {
                    Point(moment: row.moment, occurrence: occurrence, shape: row.shape, isOnLoop: $0)
                }
            }
        }
    }

    @Test func thereAreFiftyPoints() { #expect(Point.all.count >= 50) }

    @Test func cancellingAtFiftyPointsLeavesNothing() async throws {
        try await withStressOrigin { origin in
            let group = try EventLoopGroup(count: 3, name: "cancel")
            let others = try EventLoopGroup(count: 2, name: "canceller")
            var configuration = ConnectionPool.Configuration()
            configuration.limits.perHost = 24
            let pool = ConnectionPool(configuration: configuration, group: group, resolver: Resolver())
            let remains = Remains()
            let failures = Box<[String]>([])
            let run = CancelRun(
                StressSize.cancellations, pool, others, origin.port, remains, failures)
            origin.route(nil, "/arrive/{id}") { request throws(Refusal) in
                run.arrived(request.parameters[0])
                return try OriginResponse(200, "text/plain", [UInt8](repeating: 1, count: 3_000))
            }
            await run.runAll(concurrency: 96)
            #expect(failures.value.isEmpty, "\(failures.value.count): \(failures.value.prefix(5))")
            #expect(run.cancelled > StressSize.cancellations / 2)

            await withCheckedContinuation { done in pool.shutDown { done.resume() } }
            #expect(pool.openCount == 0)
            await origin.waitUntilEmpty()
            for loop in group.loops {
                // The turn that closed the last connection has ended when this work runs.
                await loop.run {}
                #expect(loop.load == 0)
                #expect(await loop.timerCount() == 0)
            }
            await others.shutdown()
            await group.shutdown()
            run.forget()
            #expect(remains.count == 0)
        }
    }
}

/// Starts exchanges, a fixed number at a time, each with a random point of cancellation.
final class CancelRun: Sendable {
    private struct State: Sendable {
        var random = SeededRandom(seed: 0xCA5CE1)
        var started = 0
        var ended = 0
        var cancelled = 0
        var awaiting: [Int: StressSink] = [:]
        var whenDone: CheckedContinuation<Void, Never>?
    }

    enum Shape: Sendable { case length, chunked, upload, stream, announced, held }

    private let state = Lock(State())
    private let total: Int
    private let pool: ConnectionPool
    private let others: EventLoopGroup
    private let origin: Origin
    private let remains: Remains
    private let failures: Box<[String]>

    init(
        _ total: Int, _ pool: ConnectionPool, _ others: EventLoopGroup, _ port: UInt16, _ remains: Remains,
        _ failures: Box<[String]>
    ) {
        self.total = total
        self.pool = pool
        self.others = others
        origin = Origin(scheme: .http, host: "127.0.0.1", port: port)
        self.remains = remains
        self.failures = failures
    }

    typealias Origin = LupineTransport.Origin

    var cancelled: Int { state.withLock { $0.cancelled } }

    func forget() { state.withLock { $0.awaiting = [:] } }

    func runAll(concurrency: Int) async {
        await withCheckedContinuation { done in
            state.withLock { $0.whenDone = done }
            for _ in 0..<concurrency { startElsewhere() }
        }
    }

    /// Called when the origin has received the request and has not answered.
    func arrived(_ id: String) {
        let sink = Int(id).flatMap { id in state.withLock { $0.awaiting.removeValue(forKey: id) } }
        sink?.reached(.arrived)
    }

    private func startElsewhere() { _ = others.next().execute { self.start() } }

    private func start() {
        let drawn = state.withLock { state -> (id: Int, point: Int)? in
            guard state.started < total else { return nil }
            state.started += 1
            return (
                state.started, Int.random(in: CancelStormTests.Point.all.indices, using: &state.random)
            )
        }
        guard let drawn else { return }
        let point = CancelStormTests.Point.all[drawn.point]
        let others = others
        let sink = StressSink(
            { sink, moment, occurrence in
                guard moment == point.moment || (point.moment == .paused && moment == .content),
                    occurrence == point.occurrence
                else { return .more }
                // Cancels while the exchange pauses; from another thread that happens after this returns, or nearly so.
                if point.isOnLoop { sink.cancel() } else { _ = others.next().execute { sink.cancel() } }
                return point.moment == .paused ? .pause : .more
            },
            ended: { self.ended($0, drawn.id) })
        let exchange = exchange(drawn.id, point.shape, sink)
        sink.attach(exchange)
        remains.watch(sink)
        remains.watch(exchange)
        if point.shape == .held { state.withLock { $0.awaiting[drawn.id] = sink } }
        sink.reached(.beforeSubmit)
        pool.submit(exchange)
        for _ in 0...point.occurrence { sink.reached(.afterSubmit) }
    }

    private func exchange(_ id: Int, _ shape: Shape, _ sink: StressSink) -> Exchange {
        let content: OutgoingContent
        let target: String
        var options = ExchangeOptions()
        switch shape {
        case .length: (target, content) = ("/bytes/\(id % 200_000)?seed=\(id)", .none)
        case .chunked: (target, content) = ("/stream-bytes/\(30_000 + id % 9_000)?chunk_size=1000", .none)
        case .upload:
            (target, content) = ("/sum", .bytes([UInt8](repeating: UInt8(id % 251), count: 1 + id % 300_000)))
        case .stream, .announced:
            let octets = [UInt8](repeating: 7, count: 15_000 + id % 5_000)
            let length: Int64? = id % 2 == 0 ? Int64(octets.count) : nil
            (target, content) = ("/sum", .stream(StressSource(octets, sink), length: length))
            if shape == .announced { options.continueTimeout = .seconds(30) }
        case .held: (target, content) = ("/arrive/\(id)", .none)
        }
        var fields = Fields()
        try? fields.append(.host, "127.0.0.1")
        let isPost = if case .none = content { false } else { true }
        return Exchange(
            head: RequestHead(method: isPost ? .post : .get, target: .origin(target), fields: fields),
            content: content, origin: origin, options: options, sink: sink)
    }

    private func ended(_ sink: StressSink, _ id: Int) {
        let outcome = sink.outcome.withLock { $0 }
        if outcome.ends != 1 { failures.update { $0.append("\(id) ended \(outcome.ends) times") } }
        if outcome.afterEnd > 0 { failures.update { $0.append("\(id) was called after its end") } }
        var wasCancelled = false
        switch outcome.result {
        case .success where outcome.status == 200: break
        case .failure(.cancelled): wasCancelled = true
        case .success, .failure, nil:
            failures.update { $0.append("\(id): \(outcome.status) \(String(describing: outcome.result))") }
        }
        let cancelled = wasCancelled ? 1 : 0
        let whenDone = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.awaiting[id] = nil
            state.ended += 1
            state.cancelled += cancelled
            return state.ended == total ? state.whenDone.take() : nil
        }
        whenDone?.resume()
        startElsewhere()
    }
}
