// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineOrigin
import LupineTLS
import Testing

@testable import LupineTransport

/// One exchange as the transport reports it: with the interim heads and the trailers that `HTTPClient` does not show.
final class ExchangeRecord: ExchangeSink {
    private struct State: Sendable {
        var interim: [Int] = []
        var status = 0
        var body: [UInt8] = []
        var result: Result<Fields, TransportError>?
    }

    private let state = Lock(State())
    private let ended = Gate()

    var interim: [Int] { state.withLock { $0.interim } }
    var status: Int { state.withLock { $0.status } }
    var text: String { state.withLock { String(decoding: $0.body, as: UTF8.self) } }

    /// The trailers of the response.
    func trailers() throws -> Fields { try #require(state.withLock { $0.result }).get() }

    func receivedInterim(_ head: ResponseHead) { state.withLock { $0.interim.append(Int(head.status.code)) } }

    func receivedHead(_ head: ResponseHead, framing: BodyFraming) -> ContentPlan {
        state.withLock { $0.status = Int(head.status.code) }
        return .deliver
    }

    func receivedContent(_ bytes: Span<UInt8>) -> Demand {
        for index in bytes.indices {
            let octet = bytes[index]
            state.withLock { $0.body.append(octet) }
        }
        return .more
    }

    func exchangeEnded(_ result: Result<Fields, TransportError>, _ metrics: ExchangeMetrics) {
        state.withLock { $0.result = result }
        ended.open()
    }

    /// Sends a request to a server of the table, through its own pool, and returns once it has ended.
    static func of(
        _ method: LupineHTTP.Method, _ path: String, sending trailers: [(String, String)] = [],
        to stage: HTTP2PeerStage
    ) async throws -> ExchangeRecord {
        let group = try EventLoopGroup(count: 1, name: "record")
        var configuration = ConnectionPool.Configuration()
        configuration.dial.versions = .http2
        let pool = ConnectionPool(configuration: configuration, group: group, resolver: Resolver())
        let record = ExchangeRecord()
        let result: Result<Void, any Error>
        do {
            pool.submit(try exchange(method, path, trailers, stage, record))
            await record.ended.wait()
            result = .success(())
        } catch { result = .failure(error) }
        await withCheckedContinuation { continuation in pool.shutDown { continuation.resume() } }
        await group.shutdown()
        try result.get()
        return record
    }

    private static func exchange(
        _ method: LupineHTTP.Method, _ path: String, _ trailers: [(String, String)],
        _ stage: HTTP2PeerStage, _ record: ExchangeRecord
    ) throws -> Exchange {
        var tls = try stage.tls()
        tls.applicationProtocols = HTTPVersions.http2.offered(of: tls.applicationProtocols)
        let port = stage.process.place.port
        let origin = LupineTransport.Origin(
            scheme: stage.scheme, host: "127.0.0.1", port: port,
            tls: stage.scheme == .https ? TLSProfile(tls, trust: .default) : nil)
        var fields = Fields()
        try fields.append(.host, "127.0.0.1:\(port)")
        // Without this field hypercorn sends no trailers.
        try fields.append(FieldName("TE"), "trailers")
        var behind = Fields()
        for (name, value) in trailers {
            // Go drops trailers that are not announced.
            try fields.append(FieldName("Trailer"), name)
            try behind.append(FieldName(name), value)
        }
        let content: OutgoingContent =
            trailers.isEmpty ? .none : .stream(TrailedContent(behind), length: nil)
        return Exchange(
            head: RequestHead(method: method, target: .origin(path), fields: fields), content: content,
            origin: origin, sink: record)
    }
}

/// A source of one piece of content, followed by trailers.
private final class TrailedContent: ContentSource {
    private let trailers: Fields
    private let isSent = Lock(false)

    init(_ trailers: Fields) { self.trailers = trailers }

    var isReplayable: Bool { false }
    func rewind() -> Bool { false }
    func abandon() {}

    func next(_ reply: @escaping @Sendable (ContentPiece) -> Void) {
        let isFirst = isSent.withLock { isSent in
            defer { isSent = true }
            return !isSent
        }
        reply(isFirst ? .bytes(Array("content".utf8)) : .end(trailers: trailers))
    }
}
