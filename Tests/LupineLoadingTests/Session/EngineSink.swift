// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineOrigin
import LupineTestKit
import LupineTransport
import Testing

@testable import LupineLoading

/// Runs `body` with an engine and an origin, and shuts both down afterwards.
func withEngine<Result>(
    serving: OriginConfiguration = OriginConfiguration(),
    configuration: URLSessionConfiguration = .ephemeral, over testedHTTP: TestedHTTP = .http1,
    _ body: (SessionEngine, LupineOrigin.Origin) async throws -> Result
) async throws -> Result {
    var serving = serving
    let plan = serving.script
    serving.script = nil
    serving.enable(testedHTTP, plan)
    let origin = try LupineOrigin.Origin.start(configuration: serving)
    configuration.waitPatiently()
    if testedHTTP == .http2 { configuration.lupine.httpVersions = .http2 }
    configuration.connectionProxyDictionary = [:]
    configuration.lupine.addressOverrides = [.init(host: "*", port: origin.port): [origin.address]]
    let engine = SessionEngine(SessionSettings(configuration))
    do {
        let result = try await body(engine, origin)
        await withCheckedContinuation { continuation in engine.shutDown { continuation.resume() } }
        await origin.shutdown()
        return result
    } catch {
        await withCheckedContinuation { continuation in engine.shutDown { continuation.resume() } }
        await origin.shutdown()
        throw error
    }
}

extension URLSessionConfiguration {
    /// Raises the time-outs that the test has not set, so that none expires on a slow or busy machine.
    func waitPatiently() {
        let untouched = URLSessionConfiguration.ephemeral
        if timeoutIntervalForRequest == untouched.timeoutIntervalForRequest {
            timeoutIntervalForRequest = 3_600
        }
        if lupine.tls.handshakeTimeout == untouched.lupine.tls.handshakeTimeout {
            lupine.tls.handshakeTimeout = .seconds(3_600)
        }
    }

    /// Returns an ephemeral configuration with changes.
    static func ephemeral(_ change: (URLSessionConfiguration) -> Void) -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        change(configuration)
        return configuration
    }
}

/// A sink that collects the results of one exchange.
final class EngineSink: ExchangeSink {
    struct Answer: Sendable {
        var status: Int?
        var body: [UInt8] = []
        var error: TransportError?
        var metrics: ExchangeMetrics?
    }

    private struct State {
        var answer = Answer()
        var isOver = false
        var waiting: [CheckedContinuation<Answer, Never>] = []
    }

    private let state = Lock(State())

    /// The result, once the exchange is over.
    var answer: Answer {
        get async {
            await withCheckedContinuation { continuation in
                let answer = state.withLock { state -> Answer? in
                    if !state.isOver { state.waiting.append(continuation) }
                    return state.isOver ? state.answer : nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        }
    }

    func receivedHead(_ head: ResponseHead, framing: BodyFraming) -> ContentPlan {
        state.withLock { $0.answer.status = Int(head.status.code) }
        return .deliver
    }

    func receivedContent(_ bytes: Span<UInt8>) -> Demand {
        state.withLock { state in
            for index in bytes.indices { state.answer.body.append(bytes[index]) }
        }
        return .more
    }

    func exchangeEnded(_ result: Result<Fields, TransportError>, _ metrics: ExchangeMetrics) {
        let (answer, waiting) = state.withLock { state in
            state.isOver = true
            state.answer.metrics = metrics
            if case .failure(let error) = result { state.answer.error = error }
            return (state.answer, state.waiting)
        }
        for continuation in waiting { continuation.resume(returning: answer) }
    }
}

extension SessionEngine {
    /// Submits a GET of `url`.
    func begin(
        _ url: String, isWebSocket: Bool = false
    ) throws -> (exchange: Exchange, sink: EngineSink) {
        let route = try route(for: try #require(URL(string: url)), isWebSocket: isWebSocket)
        var fields = Fields()
        try fields.append(.host, route.hostField)
        let sink = EngineSink()
        let exchange = Exchange(
            head: RequestHead(method: .get, target: .origin(route.target), fields: fields),
            origin: route.origin, sink: sink)
        submit(exchange, isWebSocket: isWebSocket)
        return (exchange, sink)
    }
}
