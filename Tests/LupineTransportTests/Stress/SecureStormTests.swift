// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineOrigin
import LupineTLS
import LupineTestKit
import Testing

@testable import LupineTransport

/// Exchanges over TLS on several loops, cancelled at random moments, whose servers are judged by evaluators that reply from other
/// threads in every possible way, on connections that break. Each exchange ends once, as it must, and nothing is left.
@Suite(.serialized, .timeLimit(.minutes(10))) struct SecureStormTests {
    private typealias Key = LupineTransport.Origin

    /// The evaluator that judges the server.
    enum Judge: CaseIterable, Sendable {
        case system, atOnce, elsewhere, late, twice, contradicting, silent, refusing, pinned

        /// Whether the server is trusted.
        var accepts: Bool {
            switch self {
            case .system, .atOnce, .elsewhere, .late, .twice, .contradicting: true
            case .silent, .refusing, .pinned: false
            }
        }

        func evaluator(_ others: EventLoopGroup) throws -> TrustEvaluator {
            let refusal = Result<Void, TrustFailure>.failure(.refused("no"))
            return switch self {
            case .system: .default
            case .atOnce: .custom { _, reply in reply(.success(())) }
            case .elsewhere: .custom { _, reply in _ = others.next().execute { reply(.success(())) } }
            case .late:
                .custom { _, reply in
                    // Replies several turns of other threads later, often after the cancellation.
                    _ = others.next().execute {
                        _ = others.next().execute { _ = others.next().execute { reply(.success(())) } }
                    }
                }
            case .twice:
                .custom { _, reply in
                    reply(.success(()))
                    _ = others.next().execute { reply(.success(())) }
                }
            case .contradicting:
                .custom { _, reply in
                    reply(.success(()))
                    _ = others.next().execute { reply(refusal) }
                    _ = others.next().execute { reply(refusal) }
                }
            case .silent: .custom { _, _ in }
            case .refusing: .custom { _, reply in _ = others.next().execute { reply(refusal) } }
            case .pinned: .pinnedCertificates([try SecureStage.certificate("good")])
            }
        }
    }

    /// The origin's response.
    enum Answer: CaseIterable, Sendable {
        case kept, closed, large, reset, cut

        var target: String {
            switch self {
            case .kept: "/bytes/300?seed=1"
            case .closed: "/closed"
            case .large: "/bytes/60000?seed=1"
            case .reset: "/reset"
            case .cut: "/cut"
            }
        }
    }

    /// The moment at which the exchange is cancelled.
    enum Cancellation: CaseIterable, Sendable {
        case never, neverEither, elsewhere, lateElsewhere, head, content
    }

    private struct Draw: Sendable {
        let judge: Int
        let answer: Answer
        let cancellation: Cancellation
    }

    /// The objects that all workers share.
    private final class Stage: Sendable {
        let pool: ConnectionPool
        let others: EventLoopGroup
        let profiles: [(judge: Judge, profile: TLSProfile)]
        let port: UInt16
        let sinks = Lock<[StressSink]>([])
        let remains = Remains()

        init(
            pool: ConnectionPool, others: EventLoopGroup, profiles: [(judge: Judge, profile: TLSProfile)],
            port: UInt16
        ) {
            self.pool = pool
            self.others = others
            self.profiles = profiles
            self.port = port
        }
    }

    @Test func eachEndsOnce() async throws {
        var serving = try SecureStage.serving(["ecdsa"])
        serving.recordedBytes = 0
        serving.ownLoops = 2
        serving.idleTimeout = .seconds(600)
        let origin = try OriginServer.start(configuration: serving)
        let half = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nshort"
        origin.script("GET", "/reset", ScriptPlan(.send(half), .reset))
        origin.script("GET", "/cut", ScriptPlan(.send(half), .closeWithoutNotify))
        origin.script("GET", "/closed", ScriptPlan(.reply("ok", "Connection: close\r\n"), .close))

        let group = try EventLoopGroup(count: 3, name: "storm")
        let others = try EventLoopGroup(count: 2, name: "judges")
        var resolution = Resolver.Configuration()
        resolution.overrides[Resolver.Endpoint(host: "*", port: origin.port)] = [origin.address]
        var configuration = ConnectionPool.Configuration()
        configuration.limits.perHost = 8
        let pool = ConnectionPool(
            configuration: configuration, group: group, resolver: Resolver(configuration: resolution))
        let profiles = try Judge.allCases.flatMap { judge in
            try [TLSVersion.v1_2, .v1_3].map { version in
                var tls = TLSConfiguration(roots: SecureStage.roots)
                tls.maximumVersion = version
                return (judge: judge, profile: TLSProfile(tls, trust: try judge.evaluator(others)))
            }
        }
        let stage = Stage(pool: pool, others: others, profiles: profiles, port: origin.port)
        let failures = await Self.storm(stage)
        #expect(failures.isEmpty, "\(failures.count): \(failures.prefix(5))")

        await withCheckedContinuation { done in pool.shutDown { done.resume() } }
        #expect(pool.openCount == 0)
        await origin.waitUntilEmpty()
        #expect(origin.counts.handshakesResumed > 0 && origin.counts.handshakesFailed > 0)
        for loop in group.loops {
            await loop.run {}
            #expect(loop.load == 0)
            #expect(await loop.timerCount() == 0)
        }
        // The late replies have been given once the loops of the evaluators have ended.
        await others.shutdown()
        await group.shutdown()
        let ends = stage.sinks.withLock { $0.map { $0.outcome.withLock { $0.ends } } }
        #expect(
            ends.allSatisfy { $0 == 1 }
                && ends.count == Self.workers * (StressSize.secureExchanges / Self.workers))
        stage.sinks.withLock { $0 = [] }
        #expect(stage.remains.count == 0)
        await origin.shutdown()
    }

    private static let workers = 48

    private static func storm(_ stage: Stage) async -> [String] {
        await withTaskGroup(of: [String].self) { workers in
            for worker in 0..<Self.workers {
                workers.addTask {
                    var random = SeededRandom(seed: UInt64(worker))
                    var failures: [String] = []
                    for _ in 0..<StressSize.secureExchanges / Self.workers {
                        let draw = Draw(
                            judge: .random(in: stage.profiles.indices, using: &random),
                            answer: Answer.allCases.randomElement(using: &random) ?? .kept,
                            cancellation: Cancellation.allCases.randomElement(using: &random) ?? .never)
                        if let fault = await sendOne(draw, stage) { failures.append(fault) }
                    }
                    return failures
                }
            }
            return await workers.reduce(into: []) { $0 += $1 }
        }
    }

    /// Sends one request and waits for its end; returns a description of an unexpected outcome, or nil.
    private static func sendOne(_ draw: Draw, _ stage: Stage) async -> String? {
        let (judge, profile) = stage.profiles[draw.judge]
        var fields = Fields()
        try? fields.append(.host, "ecdsa.test")
        let head = RequestHead(method: .get, target: .origin(draw.answer.target), fields: fields)
        let key = Key(scheme: .https, host: "ecdsa.test", port: stage.port, tls: profile)
        let outcome = await withCheckedContinuation { done in
            let sink = StressSink(
                { sink, moment, _ in
                    switch (draw.cancellation, moment) {
                    case (.head, .head), (.content, .content): sink.cancel()
                    case (.never, _), (.neverEither, _), (.elsewhere, _), (.lateElsewhere, _), (.head, _),
                        (.content, _):
                        break
                    }
                    return .more
                },
                // The continuation traps if an exchange ends twice.
                ended: { sink in done.resume(returning: sink.outcome.withLock { $0 }) })
            let exchange = Exchange(head: head, origin: key, sink: sink)
            sink.attach(exchange)
            stage.remains.watch(exchange)
            stage.sinks.withLock { $0.append(sink) }
            stage.pool.submit(exchange)
            switch draw.cancellation {
            case .elsewhere: _ = stage.others.next().execute { exchange.cancel() }
            case .lateElsewhere:
                _ = stage.others.next().execute {
                    _ = stage.others.next().execute { exchange.cancel() }
                }
            case .never, .neverEither, .head, .content: break
            }
        }
        return isExpected(outcome, draw, judge)
            ? nil : "\(judge), \(draw.answer), \(draw.cancellation): \(String(describing: outcome.result))"
    }

    private static func isExpected(_ outcome: StressSink.Outcome, _ draw: Draw, _ judge: Judge) -> Bool {
        guard outcome.ends == 1, outcome.afterEnd == 0 else { return false }
        switch outcome.result {
        case .success:
            guard judge.accepts, outcome.status == 200 else { return false }
            switch draw.answer {
            case .kept: return outcome.count == 300
            case .closed: return outcome.count == 2
            case .large: return outcome.count == 60_000
            case .reset, .cut: return false
            }
        case .failure(.cancelled):
            switch draw.cancellation {
            case .never, .neverEither: return false
            case .elsewhere, .lateElsewhere: return true
            case .head, .content: return judge.accepts
            }
        case .failure(.tls(_, _, .untrusted(.refused))): return judge == .silent || judge == .refusing
        case .failure(.tls(_, _, .untrusted(.certificateNotPinned))): return judge == .pinned
        case .failure(.connectionLost(_, _, .connectionReset)): return judge.accepts && draw.answer == .reset
        case .failure(.http(_, _, .truncated)): return judge.accepts && draw.answer == .cut
        case .failure, nil: return false
        }
    }
}
