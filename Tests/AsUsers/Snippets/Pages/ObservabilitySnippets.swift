// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import LupineTransport
import Testing

/// The snippets of `Observability.md` that need only the library, run against an origin.
@Suite(.timeLimit(.minutes(10))) struct ObservabilitySnippets {
    /// Tells how long transfers take, and how long they wait for a connection.
    struct Stopwatch: TransferObserver {
        let tell: @Sendable (String) -> Void

        func transfer(_ id: TransferID, didLease lease: TransferLease) {
            tell("\(id) waited \(lease.waited) for a \(lease.isReused ? "kept" : "new") connection")
        }

        func transfer(_ id: TransferID, didEnd end: TransferEnd) {
            tell(
                "\(id) \(end.start.method) \(end.start.host): \(end.status?.code ?? 0) after \(end.duration)")
        }
    }

    @Test func observer() async throws {
        let configuration = URLSessionConfiguration.default
        configuration.lupine.transferObservers = [Stopwatch { print($0) }]
        let session = Session(configuration: configuration)
        #expect(session.session.configuration.lupine.transferObservers.count == 1)
        try await API.serve { api in
            let (lines, line) = AsyncStream.makeStream(of: String.self)
            let configuration = URLSessionConfiguration.ephemeral
            configuration.lupine.transferObservers = [Stopwatch { line.yield($0) }]
            let session = Session(configuration: configuration)
            _ = await session.request("\(api)/get").serializingData().response
            var iterator = lines.makeAsyncIterator()
            #expect(await iterator.next()?.contains("for a new connection") == true)
            #expect(await iterator.next()?.contains("GET 127.0.0.1: 200 after") == true)
        }
    }

    @Test func logAndCounts() async throws {
        try await API.serve { api in
            let (lines, written) = AsyncStream.makeStream(of: String.self)
            let configuration = URLSessionConfiguration.ephemeral
            configuration.lupine.transferObservers = [
                TransferLog(level: .info) { level, line in
                    print(level, line)
                    written.yield(line)  // not on the page
                }
            ]
            let session = Session(configuration: configuration)
            _ = await session.request("\(api)/get?token=lupin").serializingData().response
            var iterator = lines.makeAsyncIterator()
            #expect(await iterator.next()?.contains("/get?token=[redacted] ended with 200") == true)
            let url = try #require(URL(string: "\(api)/get"))
            let head = try session.session.requestHead(for: URLRequest(url: url))
            print(String(decoding: head, as: UTF8.self))
            #expect(head.starts(with: Data("GET /get HTTP/1.1\r\nHost: 127.0.0.1:".utf8)))
            #expect(session.poolCounts().map(\.idle) == [1])
            for origin in session.poolCounts() {
                print(origin.host, origin.idle, origin.leased, origin.dialing, origin.waiting)
            }
        }
    }

    @Test func traceContext() async throws {
        try await API.serve { api in
            let configuration = URLSessionConfiguration.ephemeral
            let (traceparent, tracestate) = (
                "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "a=1"
            )
            let session = Session(configuration: configuration, interceptor: .traceContext)
            let incoming = try TraceContext(traceparent: traceparent, tracestate: tracestate)
            var headers = HTTPHeaders()
            headers.update(incoming)
            let response = await session.request("\(api)/headers", headers: headers).serializingData()
                .response
            let text = String(decoding: try response.result.get(), as: UTF8.self)
            #expect(
                text.contains(incoming.traceID) && !text.contains(incoming.spanID) && text.contains("a=1"))
        }
    }
}
