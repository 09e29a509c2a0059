// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineOrigin
import LupineTLS
import LupineTestKit
import Testing

@testable import LupineTransport

/// Runs `body` with an origin and a client that has its own loop, and shuts both down afterwards. Most tests of the whole stack
/// use it.
func withStack<Result>(
    _ plan: ScriptPlan? = nil, over testedHTTP: TestedHTTP = .http1, http2: HTTP2Behaviour = HTTP2Behaviour(),
    buffers: Int32? = nil, settings: HTTPClient.Configuration = .with { _ in },
    _ body: (HTTPClient, OriginServer) async throws -> Result
) async throws -> Result {
    var serving = OriginConfiguration()
    serving.enable(testedHTTP, plan)
    if testedHTTP == .http2 { serving.http2 = http2 }
    serving.recordedBytes = 1 << 20
    serving.socketBufferSize = buffers
    serving.idleTimeout = .seconds(3_600)
    let origin = try OriginServer.start(configuration: serving)
    var settings = settings
    settings.versions = testedHTTP.versions
    let client = HTTPClient(configuration: settings)
    do {
        let result = try await body(client, origin)
        await client.shutdown()
        await origin.shutdown()
        return result
    } catch {
        await client.shutdown()
        await origin.shutdown()
        throw error
    }
}

/// Runs `body` with a pool and an origin, for tests below the client's interface. The origin sends `plan` as it is, and `answers`
/// in the tested HTTP version.
func withPool<Result>(
    _ plan: ScriptPlan? = nil, answers: ScriptPlan? = nil, over testedHTTP: TestedHTTP = .http1,
    http2: HTTP2Behaviour = HTTP2Behaviour(),
    buffers: Int32? = nil, limits: PoolLimits = PoolLimits(), loops: Int = 1,
    clock: (any TransportClock)? = nil, _ body: (PoolStage) async throws -> Result
) async throws -> Result {
    // Over HTTP/2, the clock stands still unless a test advances it, so that connections do not become too old on a busy machine.
    let clock = clock ?? (testedHTTP == .http2 ? ManualClock() : MonotonicClock())
    var serving = OriginConfiguration()
    serving.script = plan
    serving.enable(testedHTTP, answers)
    serving.recordedBytes = 1 << 20
    serving.socketBufferSize = buffers
    serving.idleTimeout = .seconds(3_600)
    if testedHTTP == .http2 { serving.http2 = http2 }
    let origin = try OriginServer.start(configuration: serving)
    let group = try EventLoopGroup(count: loops, name: "stage", clock: clock)
    let stage = PoolStage(origin, group, limits, testedHTTP)
    func end() async {
        await withCheckedContinuation { continuation in stage.pool.shutDown { continuation.resume() } }
        await group.shutdown()
        await origin.shutdown()
    }
    do {
        let result = try await body(stage)
        await end()
        #expect(stage.pool.openCount == 0)
        return result
    } catch {
        await end()
        throw error
    }
}

/// A pool, its loops and the origin that it connects to.
struct PoolStage {
    let origin: OriginServer
    let group: EventLoopGroup
    let pool: ConnectionPool

    init(
        _ origin: OriginServer, _ group: EventLoopGroup, _ limits: PoolLimits,
        _ testedHTTP: TestedHTTP = .http1
    ) {
        self.origin = origin
        self.group = group
        var configuration = ConnectionPool.Configuration()
        configuration.limits = limits
        configuration.dial.versions = testedHTTP.versions
        var resolution = Resolver.Configuration()
        resolution.overrides[Resolver.Endpoint(host: "*", port: origin.port)] = [origin.address]
        pool = ConnectionPool(
            configuration: configuration, group: group, resolver: Resolver(configuration: resolution))
    }

    /// Returns an exchange with the origin, under any host name; it is not submitted yet.
    func exchange(
        _ method: Method = .get, _ target: String = "/", fields: [(FieldName, String)] = [],
        content: OutgoingContent = .none, host: String = "origin.test", from localAddress: String? = nil,
        options: ExchangeOptions = ExchangeOptions(), sink: RecordingSink = RecordingSink()
    ) throws -> (exchange: Exchange, sink: RecordingSink) {
        var list = Fields()
        try list.append(.host, host)
        for (name, value) in fields { try list.append(name, value) }
        let requestTarget: RequestTarget =
            method == .connect ? .authority(try Authority(host: host, port: 80)) : .origin(target)
        let head = RequestHead(method: method, target: requestTarget, fields: list)
        let key = LupineTransport.Origin(
            scheme: .http, host: host, port: origin.port, localBinding: localAddress)
        return (Exchange(head: head, content: content, origin: key, options: options, sink: sink), sink)
    }

    /// Submits an exchange and waits for its end.
    @discardableResult
    func send(
        _ method: Method = .get, _ target: String = "/", fields: [(FieldName, String)] = [],
        content: OutgoingContent = .none, host: String = "origin.test",
        options: ExchangeOptions = ExchangeOptions(), sink: RecordingSink = RecordingSink()
    ) async throws -> RecordingSink {
        let pair = try exchange(
            method, target, fields: fields, content: content, host: host, options: options, sink: sink)
        pool.submit(pair.exchange)
        await sink.ended.wait()
        return sink
    }
}

/// Records everything that a connection reports.
final class RecordingSink: ExchangeSink {
    struct Log: Sendable {
        var order: [String] = []
        var interim: [ResponseHead] = []
        var head: ResponseHead?
        var body: [UInt8] = []
        var spliced = 0
        var caughtUps = 0
        var sent: Int64 = 0
        var ends = 0
        var result: Result<Fields, TransportError>?
        var metrics: ExchangeMetrics?
    }

    let log = Box(Log())
    let headReceived = Gate()
    let ended = Gate()
    private let plan: @Sendable () -> ContentPlan
    private let demand: @Sendable (Int) -> Demand
    private let upgrade: (@Sendable (UpgradedConnection) -> any UpgradeHandler)?
    private let onBegin: @Sendable () -> Void
    private let onInterim: @Sendable () -> Void

    /// Creates a sink; `demand` is called with the number of octets received so far.
    init(
        plan: @escaping @Sendable () -> ContentPlan = { .deliver },
        demand: @escaping @Sendable (Int) -> Demand = { _ in .more },
        onBegin: @escaping @Sendable () -> Void = {},
        onInterim: @escaping @Sendable () -> Void = {},
        upgrade: (@Sendable (UpgradedConnection) -> any UpgradeHandler)? = nil
    ) {
        self.plan = plan
        self.demand = demand
        self.onBegin = onBegin
        self.onInterim = onInterim
        self.upgrade = upgrade
    }

    var text: String { String(decoding: log.value.body, as: UTF8.self) }
    var failure: TransportError? {
        if case .failure(let error)? = log.value.result { error } else { nil }
    }
    var metrics: ExchangeMetrics? { log.value.metrics }

    private func note(_ event: String, _ change: (inout Log) -> Void = { _ in }) {
        log.update { log in
            if log.order.last != event { log.order.append(event) }
            change(&log)
        }
    }

    func begins(on loop: EventLoop, over evidence: PeerEvidence?) { onBegin() }

    func receivedInterim(_ head: ResponseHead) {
        note("interim") { $0.interim.append(head) }
        onInterim()
    }

    func receivedHead(_ head: ResponseHead, framing: BodyFraming) -> ContentPlan {
        note("head") { $0.head = head }
        headReceived.open()
        return plan()
    }

    func receivedContent(_ bytes: Span<UInt8>) -> Demand {
        var copy: [UInt8] = []
        for index in bytes.indices { copy.append(bytes[index]) }
        note("content") { $0.body += copy }
        return demand(log.value.body.count)
    }

    func inputExhausted() -> Demand {
        log.update { $0.caughtUps += 1 }
        return .more
    }

    func spliced(_ count: Int) -> Demand {
        note("splice") { $0.spliced += count }
        return demand(log.value.spliced)
    }

    func sentContent(_ total: Int64) { log.update { $0.sent = total } }

    func upgraded(_ connection: UpgradedConnection) -> any UpgradeHandler {
        note("upgrade")
        return upgrade?(connection) ?? RefusedUpgrade()
    }

    func exchangeEnded(_ result: Result<Fields, TransportError>, _ metrics: ExchangeMetrics) {
        note("end") { log in
            log.ends += 1
            log.result = result
            log.metrics = metrics
        }
        ended.open()
    }
}

extension Script.Step {
    /// Sends a complete response with a length.
    static func reply(_ body: String = "ok", status: String = "200 OK", _ fields: String = "") -> Script.Step
    {
        .send("HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\(fields)\r\n\(body)")
    }
}

/// Returns the error that `body` throws.
func failure<Value>(
    _ body: () async throws(TransportError) -> Value
) async -> TransportError? {
    do throws(TransportError) {
        _ = try await body()
        return nil
    } catch { return error }
}

extension HTTPClient.Configuration {
    /// Returns the defaults for a client with its own loop, changed by `change`. No connection becomes too old, even if the
    /// machine is busy for a minute.
    static func with(_ change: (inout HTTPClient.Configuration) -> Void) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration()
        configuration.ownLoops = 1
        configuration.idleTimeout = .seconds(3_600)
        // No time-out expires on a slow or busy machine, except for those that a test sets.
        configuration.connectTimeout = .seconds(3_600)
        configuration.tlsHandshakeTimeout = .seconds(3_600)
        configuration.idleReadTimeout = .seconds(3_600)
        configuration.idleWriteTimeout = .seconds(3_600)
        change(&configuration)
        return configuration
    }
}

extension PoolStage {
    /// Advances the clock by `time` once content has arrived, and waits for the end of the exchange.
    func expire(_ time: Interval, on clock: ManualClock, until sink: RecordingSink) async {
        while sink.log.value.body.isEmpty, sink.log.value.spliced == 0 { await settle() }
        await settle()
        clock.advance(by: .nanoseconds(time.nanoseconds))
        for loop in group.loops { loop.wake() }
        await sink.ended.wait()
    }

    /// Returns once the loops have run everything submitted to them.
    func settle() async {
        for loop in group.loops { await loop.run {} }
        for loop in group.loops { await loop.run {} }
    }
}
