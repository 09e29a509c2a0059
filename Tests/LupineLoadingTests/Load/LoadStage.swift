// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineOrigin
import LupineTestKit
import LupineTransport
import Testing

@testable import LupineLoading

/// Runs `body` with an origin that every host name resolves to, and an engine with one event loop.
func withLoads<Result>(
    _ plan: ScriptPlan? = nil, buffers: Int32? = nil,
    configuration: URLSessionConfiguration = .with { _ in }, over testedHTTP: TestedHTTP = .http1,
    _ body: (LoadStage) async throws -> Result
) async throws -> Result {
    var serving = OriginConfiguration()
    serving.enable(testedHTTP, plan)
    serving.recordedBytes = 4 << 20
    serving.socketBufferSize = buffers
    let origin = try LupineOrigin.Origin.start(configuration: serving)
    configuration.waitPatiently()
    configuration.connectionProxyDictionary = [:]
    configuration.lupine.ownEventLoops = 1
    if testedHTTP == .http2 { configuration.lupine.httpVersions = .http2 }
    configuration.lupine.addressOverrides = [.init(host: "*", port: origin.port): [origin.address]]
    let settings = SessionSettings(configuration)
    let stage = LoadStage(
        origin: origin, settings: settings, engine: SessionEngine(settings), testedHTTP: testedHTTP)
    func end() async {
        await withCheckedContinuation { continuation in stage.engine.shutDown { continuation.resume() } }
        await origin.shutdown()
    }
    do {
        let result = try await body(stage)
        await end()
        return result
    } catch {
        await end()
        throw error
    }
}

/// An origin, and an engine whose loads go to it.
struct LoadStage {
    let origin: LupineOrigin.Origin
    let settings: SessionSettings
    let engine: SessionEngine
    let testedHTTP: TestedHTTP

    /// Returns a request to the origin.
    func request(
        _ target: String = "/", method: String = "GET", _ fields: [(String, String)] = [], body: Data? = nil
    ) throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: "http://origin.test:\(origin.port)\(target)")))
        request.httpMethod = method
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        if let body { request.httpBody = body }
        return request
    }

    /// Returns a load that was not started.
    func load(_ hop: HopRequest, _ client: RecordingHopClient) -> NetworkLoad {
        let load = NetworkLoad(hop, settings: settings, engine: engine, client: client)
        client.load.withLock { $0 = load }
        return load
    }

    /// Performs the load, and waits for its end.
    @discardableResult
    func send(
        _ hop: HopRequest, _ client: RecordingHopClient = RecordingHopClient()
    ) async -> RecordingHopClient.Log {
        load(hop, client).start()
        return await client.end()
    }

    /// Loads `/` with GET, and waits for the end.
    @discardableResult
    func send(_ client: RecordingHopClient) async throws -> RecordingHopClient.Log {
        await send(HopRequest(request: try request()), client)
    }

    /// Loads a request with these parts, and waits for the end.
    @discardableResult
    func send(
        _ target: String = "/", method: String = "GET", _ fields: [(String, String)] = [], body: Data? = nil
    ) async throws -> RecordingHopClient.Log {
        await send(HopRequest(request: try request(target, method: method, fields, body: body)))
    }

    /// Returns the octets received on a connection, as text of HTTP/1.1.
    func wire(_ connection: Int = 0) -> String {
        String(decoding: origin.receivedAsHTTP1(on: connection), as: UTF8.self)
    }
}

/// A client that records everything that a hop reports, and answers with its closures.
final class RecordingHopClient: HopLoadClient {
    struct Log: Sendable {
        var order: [String] = []
        var interim: [Int] = []
        var response: HTTPURLResponse?
        var pieces: [Data] = []
        var count = 0
        var spliced = 0
        var sent: [Int64] = []
        var expected: Int64?
        var streamRequests = 0
        var ends = 0
        var overlaps = 0
        var failure: (any Error)?
        var metrics: HopMetrics?

        var error: URLError? { failure as? URLError }
        var body: Data { pieces.reduce(Data(), +) }
        var text: String { String(decoding: body, as: UTF8.self) }
    }

    let log = Lock(Log())
    let load = Lock<NetworkLoad?>(nil)
    let responseReceived = Gate()
    let dataReceived = Gate()
    let ended = Gate()
    private let isBusy = Lock(false)
    private let plan: @Sendable (URLResponse) -> HopPlan
    private let demand: @Sendable (Int) -> Demand
    private let stream: @Sendable (Int) -> InputStream?
    private let upgrade: (@Sendable (UpgradedConnection) -> any UpgradeHandler)?

    /// - Parameters:
    ///   - plan: Answers the response.
    ///   - demand: Answers content; called with the number of bytes received so far.
    ///   - stream: Supplies a body stream; called with the number of streams supplied before.
    ///   - upgrade: Takes an upgraded connection; nil closes it.
    init(
        plan: @escaping @Sendable (URLResponse) -> HopPlan = { _ in .deliver },
        demand: @escaping @Sendable (Int) -> Demand = { _ in .more },
        stream: @escaping @Sendable (Int) -> InputStream? = { _ in nil },
        upgrade: (@Sendable (UpgradedConnection) -> any UpgradeHandler)? = nil
    ) {
        self.plan = plan
        self.demand = demand
        self.stream = stream
        self.upgrade = upgrade
    }

    var currentLog: Log { log.withLock { $0 } }
    var isOver: Bool { log.withLock { $0.ends > 0 } }

    /// Waits until the hop is over, and returns the log.
    func end() async -> Log {
        await ended.wait()
        load.withLock { $0 = nil }
        return currentLog
    }

    private func record<Result>(_ event: String, _ change: (inout Log) -> Void, _ answer: () -> Result)
        -> Result
    {
        let wasBusy = isBusy.withLock { busy -> Bool in
            defer { busy = true }
            return busy
        }
        log.withLock { log in
            if wasBusy { log.overlaps += 1 }
            if log.order.last != event { log.order.append(event) }
            change(&log)
        }
        let result = answer()
        isBusy.withLock { $0 = false }
        return result
    }

    func hopNeedsBodyStream(_ hop: any HopLoad, reply: @escaping @Sendable (BodyStream?) -> Void) {
        let count = currentLog.streamRequests
        record("stream", { $0.streamRequests += 1 }, {})
        reply(stream(count).map { UncheckedSendable($0) })
    }

    func hopSent(_ hop: any HopLoad, total: Int64, expected: Int64) {
        record(
            "sent",
            { log in
                log.sent.append(total)
                log.expected = expected
            }, {})
    }

    func hopReceivedInterimResponse(_ hop: any HopLoad, _ response: HTTPURLResponse) {
        let status = response.statusCode
        record("interim", { $0.interim.append(status) }, {})
    }

    func hopReceivedResponse(
        _ hop: any HopLoad, _ response: URLResponse, storagePolicy: URLCache.StoragePolicy
    ) -> HopPlan {
        record(
            "response", { $0.response = response as? HTTPURLResponse },
            {
                responseReceived.open()
                return plan(response)
            })
    }

    func hopReceivedContent(_ hop: any HopLoad, _ data: Data) -> Demand {
        record(
            "data",
            { log in
                log.pieces.append(data)
                log.count += data.count
            },
            {
                dataReceived.open()
                return demand(currentLog.count)
            })
    }

    func hopSpliced(_ hop: any HopLoad, _ count: Int) -> Demand {
        record("spliced", { $0.spliced += count }, { demand(currentLog.spliced) })
    }

    func hopRedirected(_ hop: any HopLoad, to request: URLRequest, response: URLResponse) {
        Issue.record("a network load redirects nothing")
    }

    func hopChallenged(
        _ hop: any HopLoad, _ challenge: URLAuthenticationChallenge,
        reply: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) { Issue.record("a network load passes on no challenges") }

    func hopUpgraded(
        _ hop: any HopLoad, _ connection: UpgradedConnection, _ response: HTTPURLResponse
    ) -> any UpgradeHandler {
        record("upgraded", { $0.response = response }, { upgrade?(connection) ?? Hangup(connection) })
    }

    func hopEnded(_ hop: any HopLoad, _ error: (any Error)?, _ metrics: HopMetrics) {
        record(
            "end",
            { log in
                log.ends += 1
                log.failure = error
                log.metrics = metrics
            }, {})
        ended.open()
    }
}

/// A handler that closes an upgraded connection at once.
final class Hangup: UpgradeHandler {
    init(_ connection: UpgradedConnection) { connection.close() }
    func received(_ bytes: Span<UInt8>) -> Demand { .enough }
    func drained() {}
    func closed(_ error: TransportError?) {}
}

extension URLSessionConfiguration {
    /// Returns an ephemeral configuration, changed by `change`.
    static func with(_ change: (URLSessionConfiguration) -> Void) -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        change(configuration)
        return configuration
    }
}

extension Script.Step {
    /// Returns a step that sends a whole response with a length.
    static func reply(_ body: String = "ok", status: String = "200 OK", _ fields: String = "") -> Script.Step
    {
        .send("HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\(fields)\r\n\(body)")
    }

    /// Returns a step that sends a whole response with a length, its body as bytes.
    static func reply(_ body: [UInt8], _ fields: String = "") -> Script.Step {
        .send(Array("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\(fields)\r\n".utf8) + body)
    }
}
