// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineHTTP2
import LupineOrigin
import LupineTLS
import LupineTestKit
import LupineTransport
import Testing

@testable import LupineLoading

/// WebSocket connections as streams of HTTP/2 (RFC 8441): the connections that they use, and how servers may end them.
struct WebSocketHTTP2Tests {
    /// Runs `body` with a session and an origin that both speak HTTP/2, over TLS if `versions` has HTTP/1.1 as well.
    private func withSession(
        _ versions: HTTPVersions = .http2, _ behaviour: HTTP2Behaviour = HTTP2Behaviour(),
        _ body: (URLSession, LupineOrigin.Origin) async throws -> Void
    ) async throws {
        var serving = OriginConfiguration()
        serving.http2 = behaviour
        let isSecure = versions.contains(.http11)
        if isSecure {
            var tls = TLSServerConfiguration(
                identities: [
                    TLSServerIdentity(
                        try TLSIdentity(pemChain: PKI.text("good-chain.pem"), pemKey: PKI.text("good.key")))
                ])
            tls.applicationProtocols = ["h2", "http/1.1"]
            serving.tls = tls
        }
        let origin = try LupineOrigin.Origin.start(configuration: serving)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        configuration.timeoutIntervalForRequest = 3_600
        configuration.lupine.httpVersions = versions
        configuration.lupine.addressOverrides = [.init(host: "*", port: origin.port): [origin.address]]
        configuration.lupine.tls.roots = .certificates(try Certificate.pem(PKI.text("root.pem")))
        let session = URLSession(
            configuration: configuration, delegate: ProtocolRecorder(), delegateQueue: nil)
        let result: Result<Void, any Error>
        do { result = .success(try await body(session, origin)) } catch { result = .failure(error) }
        session.invalidateAndCancel()
        await origin.shutdown()
        try result.get()
    }

    private func behaviour(
        takesWebSockets: Bool = true, streams: Int = 100, window: Int = 65_535
    ) -> HTTP2Behaviour {
        var behaviour = HTTP2Behaviour()
        behaviour.acceptsWebSockets = takesWebSockets
        behaviour.maxConcurrentStreams = streams
        behaviour.streamWindow = window
        return behaviour
    }

    private func socket(
        _ session: URLSession, _ origin: LupineOrigin.Origin, _ path: String = "/websocket"
    ) throws -> URLSessionWebSocketTask {
        let scheme = origin.url.hasPrefix("https") ? "wss" : "ws"
        let task = session.webSocketTask(
            with: try #require(URL(string: "\(scheme)://good.test:\(origin.port)\(path)")))
        task.resume()
        return task
    }

    private func get(_ session: URLSession, _ origin: LupineOrigin.Origin, _ path: String = "/bytes/1000")
        async throws -> Int
    {
        let scheme = origin.url.hasPrefix("https") ? "https" : "http"
        let url = try #require(URL(string: "\(scheme)://good.test:\(origin.port)\(path)"))
        return try await session.data(from: url).0.count
    }

    private func text(_ task: URLSessionWebSocketTask) async throws -> String? {
        if case .string(let text) = try await task.receive() { text } else { nil }
    }

    private func exchange(_ words: String, _ task: URLSessionWebSocketTask) async throws {
        try await task.send(.string(words))
        #expect(try await text(task) == words)
    }

    // MARK: which connection

    @Test("[H-13.3, H-13.6] a WebSocket shares the existing connection, and so do further requests")
    func shares() async throws {
        try await withSession([.http11, .http2]) { session, origin in
            #expect(try await get(session, origin) == 1_000)
            let sockets = [try socket(session, origin), try socket(session, origin, "/websocket?deflate=1")]
            for task in sockets { try await exchange("a", task) }
            #expect(try await get(session, origin) == 1_000)
            for task in sockets { try await exchange("b", task) }
            #expect(origin.counts.connectionsAccepted == 1)
            let response = sockets[0].response as? HTTPURLResponse
            #expect(response?.statusCode == 200 && response?.lupine.version == "HTTP/2")
            for task in sockets {
                task.cancel(with: .normalClosure, reason: nil)
                #expect(await ProtocolRecorder.protocolName(of: task, in: session) == "h2")
            }
            #expect(try await get(session, origin) == 1_000)
            #expect(origin.counts.connectionsAccepted == 1)
        }
    }

    @Test(
        "[H-13.3] without a usable HTTP/2 connection a WebSocket gets its own connection",
        arguments: [true, false])
    func fallsBack(_ takes: Bool) async throws {
        try await withSession([.http11, .http2], behaviour(takesWebSockets: takes)) { session, origin in
            if !takes { _ = try await get(session, origin) }
            let task = try socket(session, origin)
            try await exchange("a", task)
            #expect((task.response as? HTTPURLResponse)?.statusCode == 101)
            task.cancel(with: .normalClosure, reason: nil)
            #expect(await ProtocolRecorder.protocolName(of: task, in: session) == "http/1.1")
        }
    }

    @Test("[H-13.3] a connection without free streams is not used") func full() async throws {
        try await withSession([.http11, .http2], behaviour(streams: 1)) { session, origin in
            #expect(try await get(session, origin) == 1_000)
            let first = try socket(session, origin)
            try await exchange("a", first)
            let second = try socket(session, origin)
            try await exchange("b", second)
            let codes = [first, second].map { ($0.response as? HTTPURLResponse)?.statusCode }
            #expect(codes == [200, 101])
            #expect(origin.counts.connectionsAccepted == 2)
        }
    }

    @Test(
        "[H-13.4] a server without extended CONNECT is an error where only HTTP/2 is spoken"
    ) func refusesAlone()
        async throws
    {
        try await withSession(.http2, behaviour(takesWebSockets: false)) { session, origin in
            let task = try socket(session, origin)
            let error = await #expect(throws: URLError.self) { _ = try await task.receive() }
            #expect(error?.code == .badServerResponse)
            #expect("\(String(describing: error))".contains("SETTINGS_ENABLE_CONNECT_PROTOCOL"))
        }
    }

    @Test("[H-13.4] a WebSocket that is cancelled before the response ends") func cancelsEarly()
        async throws
    {
        try await withSession { session, origin in
            for _ in 0..<20 {
                let task = try socket(session, origin)
                task.cancel()
                let error = await #expect(throws: URLError.self) { _ = try await task.receive() }
                #expect(error?.code == .cancelled)
            }
            try await exchange("a", try socket(session, origin))
        }
    }

    // MARK: ends

    /// A server's steps, and the expected result.
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let steps: [StreamScript.Step]
        /// The messages that may arrive before the end.
        var messages: [String] = []
        var code = URLError.Code.networkConnectionLost
    }

    private static let opened = StreamScript.Step.head([(":status", "200")])
    private static let hello: [UInt8] = [0x81, 0x02, 0x68, 0x69]

    static let rows: [Row] = [
        Row(
            testDescription: "octet by octet, and an end without a close frame",
            steps: [opened, .content(hello + hello, frames: 1)], messages: ["hi", "hi"]),
        Row(
            testDescription: "an end inside a frame's head",
            steps: [opened, .content(hello + [0x81, 0x7E, 0x01])], messages: ["hi"]),
        Row(
            testDescription: "an end inside a message",
            steps: [opened, .content(hello + [0x81, 0x05, 0x61], frames: 2)], messages: ["hi"]),
        Row(
            testDescription: "a reset inside a frame",
            steps: [opened, .content([0x81, 0x05, 0x61], endsStream: false), .reset(.cancel)]),
        Row(
            testDescription: "an end with the answer", steps: [.head([(":status", "200")], endsStream: true)]),
        Row(
            testDescription: "[H-8.11] trailers after the octets",
            steps: [opened, .content(hello, endsStream: false), .head([("a", "b")], endsStream: true)],
            messages: ["hi"]),
        Row(
            testDescription: "the connection's end",
            steps: [opened, .content(hello, endsStream: false), .end()], messages: ["hi"]),
        Row(
            testDescription: "a frame with a mask",
            steps: [opened, .content([0x81, 0x82, 1, 2, 3, 4, 5, 6], endsStream: false)],
            code: .badServerResponse),
        Row(
            testDescription: "a reset instead of an answer", steps: [.reset(.internalError)],
            code: .badServerResponse),
        Row(
            testDescription: "[H-13.5] refusal after refusal", steps: [.reset(.refusedStream)],
            code: .badServerResponse),
        Row(
            testDescription: "an invalid response", steps: [.head([(":status", "404")], endsStream: true)],
            code: .badServerResponse),
        Row(
            testDescription: "[H-13.2] an unoffered subprotocol",
            steps: [.head([(":status", "200"), ("sec-websocket-protocol", "x")])], code: .badServerResponse),
        Row(
            testDescription: "[H-13.2] an unoffered extension",
            steps: [.head([(":status", "200"), ("sec-websocket-extensions", "x")])], code: .badServerResponse),
    ]

    @Test("[H-13.5] the end of the stream is the end of the WebSocket's connection", arguments: rows)
    func ends(_ row: Row) async throws {
        try await withSession { session, origin in
            origin.route(
                "GET", "/scripted", .chosen { _ throws(Refusal) in .perform(StreamScript(row.steps)) })
            let task = try socket(session, origin, "/scripted")
            var messages: [String] = []
            let error = await #expect(throws: URLError.self) {
                while true { messages.append(try await text(task) ?? "data") }
            }
            #expect(messages == row.messages)
            #expect(error?.code == row.code, "\(String(describing: error))")
            // The connection is still used, or another one is opened.
            try await exchange("a", try socket(session, origin))
        }
    }

    @Test("[H-13.5] a refused stream is opened again") func refusedOnce() async throws {
        let count = LockedValue(0)
        try await withSession { session, origin in
            origin.route(
                "GET", "/scripted",
                .chosen { _ throws(Refusal) in
                    count.update { $0 += 1 }
                    if count.value == 1 { return .perform(StreamScript([.reset(.refusedStream)])) }
                    return .perform(StreamScript([Self.opened, .content(Self.hello, endsStream: false)]))
                })
            let task = try socket(session, origin, "/scripted")
            #expect(try await text(task) == "hi")
            #expect(count.value == 2)
        }
    }

    @Test("[H-13.6] GOAWAY leaves WebSockets open") func goAway() async throws {
        try await withSession { session, origin in
            origin.route(
                "GET", "/leave",
                .chosen { _ throws(Refusal) in
                    .perform(
                        StreamScript([
                            .shutDown(inSteps: false), .head([(":status", "204")], endsStream: true),
                        ]))
                })
            let task = try socket(session, origin)
            try await exchange("a", task)
            #expect(try await get(session, origin, "/leave") == 0)
            try await exchange("b", task)
            #expect(try await get(session, origin) == 1_000)
            try await exchange("c", task)
            #expect(origin.counts.connectionsAccepted == 2)
            task.cancel(with: .normalClosure, reason: nil)
            #expect(await ProtocolRecorder.protocolName(of: task, in: session) == "h2")
        }
    }

    // MARK: windows

    @Test("[H-13.1] messages pass through windows of a few octets", arguments: [1, 7, 100]) func tinyWindows(
        _ size: Int
    )
        async throws
    {
        try await withSession(.http2, behaviour(window: size)) { session, origin in
            let task = try socket(session, origin)
            let sent = String(repeating: "é", count: 150 * min(size, 10))
            try await exchange(sent, task)
            task.cancel(with: .normalClosure, reason: nil)
            #expect(await ProtocolRecorder.protocolName(of: task, in: session) == "h2")
        }
    }

    @Test("[H-13.6] a WebSocket that is not read pauses itself only") func backPressure() async throws {
        try await withSession { session, origin in
            let task = try socket(session, origin, "/websocket?size=8000000")
            task.maximumMessageSize = 8_000_000
            let unread = try socket(session, origin, "/websocket?count=10000")
            #expect(try await get(session, origin, "/bytes/100000") == 100_000)
            guard case .data(let data) = try await task.receive() else {
                Issue.record("no data came")
                return
            }
            #expect(data.count == 8_000_000)
            for number in 0..<10_000 where try await text(unread) != String(number) {
                Issue.record("not \(number)")
                return
            }
            #expect(origin.counts.connectionsAccepted == 1)
        }
    }
}

/// A delegate that records the protocols in the metrics of its tasks.
private final class ProtocolRecorder: NSObject, URLSessionTaskDelegate {
    private let log = CallLog()

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        let name = metrics.transactionMetrics.last?.networkProtocolName ?? "-"
        log.add("\(task.taskIdentifier): \(name)")
    }

    /// Returns the name of the task's protocol, once the metrics are there.
    static func protocolName(of task: URLSessionTask, in session: URLSession) async -> String? {
        guard let recorder = session.delegate as? ProtocolRecorder else { return nil }
        let prefix = "\(task.taskIdentifier): "
        await recorder.log.wait(for: prefix)
        return recorder.log.entries.first { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
    }
}
