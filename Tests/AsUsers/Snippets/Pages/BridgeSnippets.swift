// SPDX-License-Identifier: MIT

import LoggingStandIn
import Lupine
import LupineOrigin
import LupineTransport
import MetricsStandIn
import Synchronization
import Testing
import TracingStandIn

extension Logger {
    /// A log of transfers that writes into this logger, as much as its level lets through.
    var transferLog: TransferLog {
        TransferLog(level: threshold) { level, line in
            log(level: Logger.Level(level), "\(line)", metadata: ["component": "http"])
        }
    }

    private var threshold: TransferLog.Level {
        switch logLevel {
        case .trace, .debug: .debug
        case .info, .notice: .info
        case .warning: .warning
        case .error, .critical: .error
        }
    }
}

extension Logger.Level {
    init(_ level: TransferLog.Level) {
        switch level {
        case .debug: self = .debug
        case .info: self = .info
        case .warning: self = .warning
        case .error: self = .error
        }
    }
}

/// Counts and times transfers.
struct TransferMeter: TransferObserver {
    func transfer(_ id: TransferID, didDial dial: TransferDial) {
        Timer(label: "http_client_dial", dimensions: [("host", dial.host)])
            .recordNanoseconds(nanoseconds(dial.duration))
    }

    func transfer(_ id: TransferID, didLease lease: TransferLease) {
        Counter(label: "http_client_leases", dimensions: [("reused", "\(lease.isReused)")])
            .increment(by: 1)
        Timer(label: "http_client_wait", dimensions: []).recordNanoseconds(nanoseconds(lease.waited))
    }

    func transfer(_ id: TransferID, didEnd end: TransferEnd) {
        let result = end.error == nil ? end.status.map { "\($0)" } ?? "cancelled" : "failed"
        let dimensions = [("method", "\(end.start.method)"), ("host", end.start.host), ("result", result)]
        Timer(label: "http_client_duration", dimensions: dimensions)
            .recordNanoseconds(nanoseconds(end.duration))
        Counter(label: "http_client_received_bytes", dimensions: dimensions)
            .increment(by: end.metrics.responseBodyBytesReceived)
    }

    /// For a timer of the program's.
    func record(_ counts: [PoolCounts]) {
        for origin in counts {
            for (state, count) in [
                ("idle", origin.idle), ("leased", origin.leased), ("waiting", origin.waiting),
            ] {
                Gauge(label: "http_client_pool", dimensions: [("host", origin.host), ("state", state)])
                    .record(count)
            }
        }
    }

    private func nanoseconds(_ duration: Duration) -> Int64 { Int64(duration / .nanoseconds(1)) }
}

/// Makes a span of each transfer.
final class TransferTracer: TransferObserver {
    private let spans = Mutex<[TransferID: any Span]>([:])

    /// Reads the fields of a request.
    private struct FieldReader: Extractor {
        func extract(key: String, from fields: Fields) -> String? {
            (try? FieldName(key)).flatMap { fields[$0] }
        }
    }

    func transfer(_ id: TransferID, didStart start: TransferStart) {
        var parent = ServiceContext.topLevel
        InstrumentationSystem.instrument.extract(start.fields, into: &parent, using: FieldReader())
        let span = startSpan("\(start.method)", context: parent, ofKind: .client)
        span.attributes["http.request.method"] = .string("\(start.method)")
        span.attributes["server.address"] = .string(start.host)
        span.attributes["server.port"] = .int64(Int64(start.port))
        spans.withLock { $0[id] = span }
    }

    func transfer(_ id: TransferID, didEnd end: TransferEnd) {
        guard let span = spans.withLock({ $0.removeValue(forKey: id) }) else { return }
        if let status = end.status {
            span.attributes["http.response.status_code"] = .int64(Int64(status.code))
        }
        if let error = end.error {
            span.recordError(error)
            span.setStatus(SpanStatus(code: .error, message: "\(error)"))
        }
        span.end()
    }
}

/// The bridges in `Observability.md`, run against an origin with modules that stand in for the packages.
@Suite(.timeLimit(.minutes(10))) struct BridgeSnippets {
    /// Signals the end of a transfer; placed after the other observers, which are called first.
    private struct Last: TransferObserver {
        let ended: AsyncStream<Void>.Continuation
        func transfer(_ id: TransferID, didEnd end: TransferEnd) { ended.yield() }
    }

    /// Sends two requests with a `traceparent`, the second of which fails, and returns when the observer has received all
    /// events.
    private func load(
        _ observer: any TransferObserver, traceparent: String? = nil, _ body: (Session) -> Void = { _ in }
    ) async throws {
        try await API.serve { api in
            let (ends, ended) = AsyncStream.makeStream(of: Void.self)
            let configuration = URLSessionConfiguration.ephemeral
            configuration.lupine.transferObservers = [observer, Last(ended: ended)]
            let session = Session(configuration: configuration)
            var iterator = ends.makeAsyncIterator()
            var headers = HTTPHeaders()
            if let traceparent { headers.update(name: "traceparent", value: traceparent) }
            _ = await session.request("\(api)/status/404?key=lupin", headers: headers).serializingData()
                .response
            await iterator.next()
            api.origin.script("GET", "/broken", ScriptPlan(.send("what?\r\n\r\n"), .close))
            _ = await session.request("\(api)/broken").serializingData().response
            await iterator.next()
            body(session)
        }
    }

    @Test func logging() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.lupine.transferObservers = [Logger(label: "org.example.http").transferLog]
        #expect(configuration.lupine.transferObservers.count == 1)
        let logger = Logger(label: "bridge")
        try await load(logger.transferLog)
        let written = Logger.written.filter { $0.label == "bridge" }
        #expect(written.map(\.level) == [.warning, .error])
        #expect(written[0].text.contains("/status/404?key=[redacted] ended with 404"))
        #expect(written.allSatisfy { $0.keys == ["component"] })
    }

    @Test func metrics() async throws {
        let meter = TransferMeter()
        try await load(meter) { session in meter.record(session.poolCounts()) }
        func values(_ label: String, _ name: String, _ value: String) -> [Double] {
            Recorded.all.filter { $0.label == label && $0.dimensions[name] == value }.map(\.value)
        }
        #expect(values("http_client_duration", "result", "404").count == 1)
        #expect(values("http_client_duration", "result", "failed").count == 1)
        #expect(values("http_client_leases", "reused", "false").first == 1)
        #expect(values("http_client_dial", "host", "127.0.0.1").allSatisfy { $0 > 0 })
        #expect(values("http_client_pool", "state", "waiting").allSatisfy { $0 == 0 })
        #expect(Recorded.all.contains { $0.label == "http_client_wait" })
    }

    @Test func tracing() async throws {
        let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        try await load(TransferTracer(), traceparent: parent)
        let spans = InstrumentationSystem.ended
        #expect(spans.map(\.name) == ["GET", "GET"] && spans.map(\.parent.traceparent) == [parent, nil])
        #expect(spans[0].attributes["http.response.status_code"] == .int64(404))
        #expect(spans[0].attributes["server.address"] == .string("127.0.0.1"))
        #expect(spans.map(\.errors) == [0, 1] && spans[1].status?.code == .error)
        if case .client = spans[0].kind {} else { Issue.record("the span is a client's") }
    }
}
