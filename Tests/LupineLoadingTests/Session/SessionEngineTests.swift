// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineTestKit
import LupineTransport
import Testing

@testable import LupineLoading

/// A session's use of the transport, over real sockets.
struct SessionEngineTests {
    private func route(
        _ url: String, isWebSocket: Bool = false, _ change: (URLSessionConfiguration) -> Void = { _ in }
    ) throws -> SessionEngine.Route {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        change(configuration)
        let engine = SessionEngine(SessionSettings(configuration))
        return try engine.route(for: try #require(URL(string: url)), isWebSocket: isWebSocket)
    }

    private static func proxied(_ configuration: URLSessionConfiguration) {
        configuration.connectionProxyDictionary = [
            "HTTPEnable": 1, "HTTPProxy": "web.example", "HTTPPort": 1, "HTTPSEnable": 1,
            "HTTPSProxy": "secure.example", "HTTPSPort": 2,
        ]
    }

    @Test("[U-15.3] http uses its proxy, https and WebSockets a tunnel")
    func tunnels() throws {
        let rows: [(String, Bool, String, Bool)] = [
            ("http://h/", false, "web.example", false), ("https://h/", false, "secure.example", true),
            ("ws://h/", true, "web.example", true), ("wss://h/", true, "secure.example", true),
        ]
        for (url, isWebSocket, proxy, isTunnelled) in rows {
            let route = try route(url, isWebSocket: isWebSocket, Self.proxied)
            #expect(route.proxy?.host == proxy && route.isTunnelled == isTunnelled, "\(url)")
            #expect(route.origin.proxy == route.proxy)
        }
        let socks = try route("http://h/") {
            $0.connectionProxyDictionary = ["SOCKSEnable": 1, "SOCKSProxy": "s.example"]
        }
        #expect(socks.proxy?.kind == .socks5 && socks.isTunnelled)
        let direct = try route("http://h/")
        #expect(direct.proxy == nil && !direct.isTunnelled)
    }

    @Test("a route does not depend on earlier requests")
    func everyOrder() throws {
        let addresses: [(String, Bool)] = [
            ("http://h/p?q", false), ("http://h/p?q#f", false), ("http://h/p?Q", false), ("http://h", false),
            ("http://g/p?q", false), ("http://h:80/p?q", false), ("http://u@h/p?q", false),
            ("https://h/p?q", false),
            ("ws://h/p?q", true), ("http://h/p?q", true), ("ws://h/p?q", false), ("http://h/\u{20}", false),
        ]
        func text(_ route: SessionEngine.Route?) -> String {
            route.map {
                "\($0.origin.scheme) \($0.origin.host):\($0.origin.port) \($0.target) \($0.hostField) \($0.isTunnelled)"
            } ?? "none"
        }
        for first in addresses {
            for second in addresses {
                let configuration = URLSessionConfiguration.ephemeral
                configuration.connectionProxyDictionary = [:]
                let engine = SessionEngine(SessionSettings(configuration))
                for (address, isWebSocket) in [first, second, second, first] {
                    let url = try #require(URL(string: address))
                    let found = try? engine.route(for: url, isWebSocket: isWebSocket)
                    let fresh = try? route(address, isWebSocket: isWebSocket)
                    #expect(text(found) == text(fresh), "\(address) behind \(first) and \(second)")
                }
            }
        }
    }

    @Test func aSocketPathNeedsNoProxy() throws {
        let route = try route("http://h/p") {
            Self.proxied($0)
            $0.lupine.unixSocketPath = "/run/daemon.sock"
            $0.lupine.localBinding = "eth7"
        }
        #expect(route.origin.unixPath == "/run/daemon.sock" && route.proxy == nil)
        #expect(route.hostField == "h" && route.origin.localBinding == "eth7")
    }

    @Test("[U-9.12] the pool keys of two sessions differ, those of one session are equal")
    func keys() throws {
        let settings = SessionSettingsTests.settings { $0.connectionProxyDictionary = [:] }
        let (one, other) = (SessionEngine(settings), SessionEngine(settings))
        let url = try #require(URL(string: "https://h/"))
        let first = try one.route(for: url, isWebSocket: false).origin
        #expect(try one.route(for: url, isWebSocket: false).origin == first)
        #expect(try other.route(for: url, isWebSocket: false).origin != first)
    }

    @Test("[U-10.5] a request without client identity has another key if an identity is configured")
    func anonymous() throws {
        let settings = SessionSettingsTests.settings { $0.connectionProxyDictionary = [:] }
        let url = try #require(URL(string: "https://h/"))
        let plain = SessionEngine(settings)
        #expect(
            try plain.route(for: url, isWebSocket: false, mayIdentify: false).origin
                == plain.route(for: url, isWebSocket: false).origin)
        let identity = try TrustStage.identity("client-rsa").identity
        let engine = SessionEngine(
            SessionSettingsTests.settings { configuration in
                configuration.connectionProxyDictionary = [:]
                configuration.lupine.tls.identity = identity
            })
        let anonymous = try engine.route(for: url, isWebSocket: false, mayIdentify: false).origin
        #expect(try engine.route(for: url, isWebSocket: false).origin != anonymous)
        #expect(anonymous.tls?.configuration.identity == nil)
    }

    @Test("[U-16.3] an engine that cannot be created throws the reason for each request")
    func aFailureIsKept() throws {
        for _ in 0..<2 {
            #expect(throws: TransportError.proxy(.malformedPort(offset: 0))) {
                try route("http://h/") {
                    $0.connectionProxyDictionary = ["HTTPEnable": 1, "HTTPProxy": "p", "HTTPPort": -1]
                }
            }
        }
    }

    @Test("[U-15.4] a proxy appears in metrics; an unreachable proxy has its own error")
    func proxiesInMetricsAndErrors() async throws {
        var serving = OriginConfiguration()
        serving.script = ScriptPlan(
            .expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .stall)
        let proxy = try LupineOrigin.Origin.start(configuration: serving)
        let configuration = URLSessionConfiguration.ephemeral {
            $0.connectionProxyDictionary = [
                "HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": Int(proxy.port),
            ]
        }
        let engine = SessionEngine(SessionSettings(configuration))
        let answer = await (try engine.begin("http://origin.test/")).sink.answer
        #expect(answer.body == Array("ok".utf8) && answer.metrics?.usedProxy == true)
        #expect(answer.metrics?.remoteAddress == proxy.address)
        await withCheckedContinuation { continuation in engine.shutDown { continuation.resume() } }
        await proxy.shutdown()

        // Nothing listens on port 1; a port that was just released may be in use again by now.
        let absent = URLSessionConfiguration.ephemeral {
            $0.connectionProxyDictionary = ["HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": 1]
        }
        let refusing = SessionEngine(SessionSettings(absent))
        let refused = await (try refusing.begin("http://origin.test/")).sink.answer
        let error = try #require(refused.error)
        #expect(URLError(error, url: nil).code == .cannotConnectToHost)
        let unknown = TransportError.resolution(host: "proxy.test", .nameNotFound)
        #expect(URLError(unknown, url: nil).code == .cannotFindHost)
    }

    @Test("[U-9.2] an origin gets the target unchanged", arguments: TestedHTTP.allCases)
    func targetsArrive(over testedHTTP: TestedHTTP) async throws {
        var serving = OriginConfiguration()
        serving.recordedBytes = 1 << 16
        try await withEngine(serving: serving, over: testedHTTP) { engine, origin in
            let made = try engine.begin("http://u:p@name.test:\(origin.port)/status/204?a=%7e&b#f")
            #expect(await made.sink.answer.status == 204)
            let sent = String(decoding: origin.receivedAsHTTP1(on: 0), as: UTF8.self)
            #expect(sent.hasPrefix("GET /status/204?a=%7e&b HTTP/1.1\r\n"))
            #expect(sent.contains("\r\nHost: name.test:\(origin.port)\r\n"))
        }
    }

    @Test("[U-8.12] WebSockets do not count against the limit for a host")
    func webSocketsAreExtra() async throws {
        var serving = OriginConfiguration()
        serving.script = ScriptPlan(
            (0..<4).map { index in
                Script([
                    .expectHead, .signal("busy \(index)"), .waitForSignal("go"),
                    .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .stall,
                ])
            })
        try await withEngine(
            serving: serving, configuration: .ephemeral { $0.httpMaximumConnectionsPerHost = 0 }
        ) {
            engine, origin in
            let held = try engine.begin("http://h:\(origin.port)/")
            await origin.gate("busy 0").wait()
            let waiting = try engine.begin("http://h:\(origin.port)/")
            let sockets = try (0..<3).map { _ in
                try engine.begin("ws://h:\(origin.port)/", isWebSocket: true)
            }
            for index in 1...3 { await origin.gate("busy \(index)").wait() }
            origin.gate("go").open()
            for made in sockets { #expect(await made.sink.answer.status == 200) }
            #expect(await held.sink.answer.status == 200)
            #expect(origin.counts.connectionsAccepted == 4, "[U-9.14] less than one connection means one")
            waiting.exchange.cancel()
            #expect(await waiting.sink.answer.error == .cancelled)
        }
    }

    @Test(arguments: TestedHTTP.allCases) func anIdleConnectionCloses(over testedHTTP: TestedHTTP)
        async throws
    {
        var serving = OriginConfiguration()
        serving.script = ScriptPlan(
            .expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), .expectEnd, .signal("closed"))
        try await withEngine(serving: serving, over: testedHTTP) { engine, origin in
            _ = await (try engine.begin("http://h:\(origin.port)/")).sink.answer
            let closed = Lock(false)
            origin.gate("closed").whenOpen { closed.withLock { $0 = true } }
            // The sink gets the end before the connection returns to the pool.
            while !closed.withLock({ $0 }) {
                engine.closeIdleConnections()
                await Task.yield()
            }
        }
    }

    @Test(
        "finishing waits for running exchanges, closes their connections and refuses new ones",
        arguments: [nil, 2], TestedHTTP.allCases)
    func finishing(ownLoops: Int?, over testedHTTP: TestedHTTP) async throws {
        var serving = OriginConfiguration()
        serving.script = ScriptPlan(
            .expectHead, .signal("busy"), .waitForSignal("go"),
            .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .expectEnd, .signal("closed"))
        try await withEngine(
            serving: serving, configuration: .ephemeral { $0.lupine.ownEventLoops = ownLoops },
            over: testedHTTP
        ) {
            engine, origin in
            let running = try engine.begin("http://h:\(origin.port)/")
            await origin.gate("busy").wait()
            let (ends, end) = AsyncStream.makeStream(of: String.self)
            engine.finish { end.yield("finished") }
            #expect(await (try engine.begin("http://h:\(origin.port)/")).sink.answer.error == .shutDown)
            origin.gate("go").open()
            let answer = await running.sink.answer
            #expect(answer.error == nil && answer.body == Array("ok".utf8))
            for await _ in ends { break }
            await origin.gate("closed").wait()
        }
    }

    @Test("an engine that finishes may still be shut down", arguments: TestedHTTP.allCases)
    func shuttingDownAfterFinishing(over testedHTTP: TestedHTTP) async throws {
        var serving = OriginConfiguration()
        serving.script = ScriptPlan(.expectHead, .signal("busy"), .stall)
        try await withEngine(
            serving: serving, configuration: .ephemeral { $0.lupine.ownEventLoops = 1 }, over: testedHTTP
        ) {
            engine, origin in
            let running = try engine.begin("http://h:\(origin.port)/")
            await origin.gate("busy").wait()
            await withCheckedContinuation { continuation in
                engine.finish { continuation.resume() }
                engine.shutDown {}
            }
            #expect(await running.sink.answer.error == .shutDown)
        }
    }

    @Test func aReleasedEngineClosesItsConnections() async throws {
        var serving = OriginConfiguration()
        serving.script = ScriptPlan(
            .expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), .expectEnd, .signal("closed"))
        let origin = try LupineOrigin.Origin.start(configuration: serving)
        let settings = SessionSettingsTests.settings {
            $0.connectionProxyDictionary = [:]
            $0.lupine.addressOverrides = [.init(host: "*", port: origin.port): [origin.address]]
        }
        var engine: SessionEngine? = SessionEngine(settings)
        let made = try #require(try engine?.begin("http://h:\(origin.port)/"))
        #expect(await made.sink.answer.status == 200)
        engine = nil
        await origin.gate("closed").wait()
        await origin.shutdown()
    }
}
