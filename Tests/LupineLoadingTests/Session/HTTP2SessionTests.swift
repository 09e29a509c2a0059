// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineOrigin
import LupineTLS
import LupineTestKit
import LupineTransport
import Testing

@testable import LupineLoading

/// Tests of what sessions offer of HTTP/2 and report about it.
struct HTTP2SessionTests {
    /// Runs `body` with an origin that speaks TLS, and a session that trusts it.
    private func withSession(
        _ versions: HTTPVersions, serving offered: [String] = ["h2", "http/1.1"],
        asProxy: Bool = false, serviceType: URLRequest.NetworkServiceType = .default,
        _ body: (URLSession, LupineOrigin.Origin, String) async throws -> Void
    ) async throws {
        var serving = OriginConfiguration()
        serving.http2 = HTTP2Behaviour()
        var tls = TLSServerConfiguration(
            identities: [
                TLSServerIdentity(
                    try TLSIdentity(pemChain: PKI.text("good-chain.pem"), pemKey: PKI.text("good.key")))
            ])
        tls.applicationProtocols = offered
        serving.tls = tls
        let origin = try LupineOrigin.Origin.start(configuration: serving)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        configuration.timeoutIntervalForRequest = 3_600
        configuration.networkServiceType = serviceType
        configuration.lupine.httpVersions = versions
        configuration.lupine.addressOverrides = [.init(host: "*", port: origin.port): [origin.address]]
        configuration.lupine.tls.roots = .certificates(try Certificate.pem(PKI.text("root.pem")))
        if asProxy { configuration.lupine.proxies = ["http_proxy": "https://good.test:\(origin.port)"] }
        let session = URLSession(configuration: configuration)
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(session, origin, "good.test:\(origin.port)"))
        } catch { result = .failure(error) }
        session.invalidateAndCancel()
        await origin.shutdown()
        try result.get()
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let versions: HTTPVersions
        let offered: [String]
        let name: String
    }

    @Test(
        "[U-9.18] an https origin selects the version, and the metrics report it",
        arguments: [
            Row(
                testDescription: "both have both", versions: [.http11, .http2],
                offered: ["h2", "http/1.1"], name: "h2"),
            Row(
                testDescription: "the server has only HTTP/1.1", versions: [.http11, .http2],
                offered: ["http/1.1"], name: "http/1.1"),
            Row(
                testDescription: "the session has only HTTP/1.1", versions: .http11,
                offered: ["h2", "http/1.1"], name: "http/1.1"),
            Row(
                testDescription: "the session has only HTTP/2", versions: .http2, offered: ["h2"],
                name: "h2"),
        ])
    func chosen(_ row: Row) async throws {
        try await withSession(row.versions, serving: row.offered) { session, origin, host in
            let metricsDelegate = MetricsDelegate()
            for isReused in [false, true] {
                let (data, response) = try await session.data(
                    from: try #require(URL(string: "https://\(host)/bytes/100")), delegate: metricsDelegate)
                #expect(data.count == 100)
                let metrics = try #require(metricsDelegate.metrics?.transactionMetrics.first)
                #expect(metrics.networkProtocolName == row.name)
                #expect(metrics.isReusedConnection == isReused)
                let version = (response as? HTTPURLResponse)?.lupine.version
                #expect(version == (row.name == "h2" ? "HTTP/2" : "HTTP/1.1"))
            }
            #expect(origin.counts.connectionsAccepted == 1)
        }
    }

    @Test("[U-9.18] an origin without HTTP/2 is refused by a session that speaks only HTTP/2")
    func nothingInCommon() async throws {
        try await withSession(.http2, serving: ["http/1.1"]) { session, _, host in
            let url = try #require(URL(string: "https://\(host)/get"))
            let result = await Task { try await session.data(from: url) }.result
            let error = #expect(throws: URLError.self) { _ = try result.get() }
            #expect(error?.code == .secureConnectionFailed)
        }
    }

    @Test(
        "[U-21.6] observers get the head of a request that is sent over HTTP/2 alone",
        arguments: [HTTPVersions.http2, [.http11, .http2]])
    func head(_ versions: HTTPVersions) async throws {
        try await withSession(versions) { session, _, host in
            var request = URLRequest(url: try #require(URL(string: "https://\(host)/anything?q=1")))
            request.httpMethod = "POST"
            request.httpBody = Data("content".utf8)
            request.setValue("two", forHTTPHeaderField: "X-Own")
            let head = String(decoding: try session.requestHead(for: request), as: UTF8.self)
            let start =
                versions == .http2
                ? ":method: POST\r\n:scheme: https\r\n:authority: \(host)\r\n:path: /anything?q=1\r\n"
                : "POST /anything?q=1 HTTP/1.1\r\n"
            #expect(head.hasPrefix(start) && head.hasSuffix("\r\n\r\n"), "\(head)")
            #expect(head.contains(versions == .http2 ? "\r\nx-own: two\r\n" : "\r\nX-Own: two\r\n"))
            #expect(head.lowercased().contains("\r\ncontent-length: 7\r\n"))
        }
    }

    @Test("[U-9.18] a session without HTTP versions reports an error")
    func nothingSpoken() async throws {
        try await withSession([]) { session, _, host in
            let url = try #require(URL(string: "https://\(host)/get"))
            let result = await Task { try await session.data(from: url) }.result
            let error = #expect(throws: URLError.self) { _ = try result.get() }
            let cause = "\(error?.userInfo[NSUnderlyingErrorKey] ?? "")"
            #expect(cause.contains("no version of HTTP"))
        }
    }

    @Test(
        "[U-9.18, H-13.3] a WebSocket uses the existing connection of the requests before it",
        arguments: [HTTPVersions.http2, [.http11, .http2]])
    func webSocket(_ versions: HTTPVersions) async throws {
        try await withSession(versions) { session, origin, host in
            let (_, response) = try await session.data(from: try #require(URL(string: "https://\(host)/get")))
            #expect((response as? HTTPURLResponse)?.lupine.version == "HTTP/2")
            let socket = session.webSocketTask(with: try #require(URL(string: "wss://\(host)/websocket")))
            socket.resume()
            try await socket.send(.string("hello"))
            guard case .string("hello") = try await socket.receive() else {
                Issue.record("the echo says something else")
                return
            }
            #expect(origin.counts.connectionsAccepted == 1)
            socket.cancel()
        }
    }

    @Test("[U-9.18] a proxy is used with HTTP/1.1, whatever it supports")
    func proxy() async throws {
        try await withSession([.http11, .http2], asProxy: true) { session, _, _ in
            let metricsDelegate = MetricsDelegate()
            let (_, response) = try await session.data(
                from: try #require(URL(string: "http://origin.test/get")), delegate: metricsDelegate)
            #expect((response as? HTTPURLResponse)?.statusCode == 200)
            let metrics = try #require(metricsDelegate.metrics?.transactionMetrics.first)
            #expect(metrics.isProxyConnection && metrics.networkProtocolName == "http/1.1")
        }
    }

    @Test(
        "[H-12.5] the priority of a task is sent to the server", arguments: [HTTPVersions.http2, .http11])
    func priority(_ versions: HTTPVersions) async throws {
        try await withSession(versions) { session, origin, host in
            let name = try FieldName("Priority")
            origin.route("GET", "/said") { request throws(Refusal) in
                let sentFields = request.head.fields.values(of: name).joined(separator: " and ")
                return OriginResponse(body: .bytes(Array(sentFields.utf8)))
            }
            let url = try #require(URL(string: "https://\(host)/said"))
            for (priority, sentFields) in [
                (URLSessionTask.highPriority, "u=1"), (URLSessionTask.lowPriority, "u=5"),
                (URLSessionTask.defaultPriority, ""),
            ] {
                let received = await withCheckedContinuation { continuation in
                    let task = session.dataTask(with: url) { data, _, _ in
                        continuation.resume(returning: data.map { String(decoding: $0, as: UTF8.self) })
                    }
                    task.priority = priority
                    task.resume()
                }
                #expect(received == (versions == .http2 ? sentFields : ""))
            }
        }
    }

    @Test(
        "[U-9.19] without a priority a task has that of its service type: the request's, else the session's",
        arguments: [
            (.default, .default, 0.5, ""), (.background, .default, 0.5, "u=5"),
            (.responsiveData, .background, 0.5, "u=1"), (.video, .default, 0.5, ""),
            (.default, .background, 0.5, "u=5"), (.background, .default, 1, "u=0"),
        ] as [(URLRequest.NetworkServiceType, URLRequest.NetworkServiceType, Float, String)])
    func serviceType(
        _ ofRequest: URLRequest.NetworkServiceType, _ ofSession: URLRequest.NetworkServiceType,
        _ priority: Float, _ sentFields: String
    ) async throws {
        try await withSession(.http2, serviceType: ofSession) { session, origin, host in
            let name = try FieldName("Priority")
            origin.route("GET", "/said") { request throws(Refusal) in
                OriginResponse(body: .bytes(request.head.fields.values(of: name).flatMap(\.utf8)))
            }
            var request = URLRequest(url: try #require(URL(string: "https://\(host)/said")))
            request.networkServiceType = ofRequest
            let received = await withCheckedContinuation { continuation in
                let task = session.dataTask(with: request) { data, _, _ in
                    continuation.resume(returning: data.map { String(decoding: $0, as: UTF8.self) })
                }
                #expect(task.priority == URLSessionTask.defaultPriority)
                if priority != URLSessionTask.defaultPriority { task.priority = priority }
                task.resume()
            }
            #expect(received == sentFields)
        }
    }

    @Test("one connection carries a hundred tasks at once")
    func many() async throws {
        try await withSession([.http11, .http2]) { session, origin, host in
            _ = try await session.data(from: try #require(URL(string: "https://\(host)/get")))
            try await withThrowingTaskGroup(of: (Int, Int).self) { group in
                for count in 1...100 {
                    let url = try #require(URL(string: "https://\(host)/bytes/\(count * 100)"))
                    group.addTask { (count * 100, try await session.data(from: url).0.count) }
                }
                for try await (wanted, count) in group { #expect(wanted == count) }
            }
            #expect(origin.counts.connectionsAccepted == 1)
        }
    }

    private final class MetricsDelegate: NSObject, URLSessionTaskDelegate {
        private let recorded = Lock<URLSessionTaskMetrics?>(nil)
        var metrics: URLSessionTaskMetrics? { recorded.withLock { $0 } }

        func urlSession(
            _ session: URLSession, task: URLSessionTask,
            didFinishCollecting metrics: URLSessionTaskMetrics
        ) { recorded.withLock { $0 = metrics } }
    }
}
