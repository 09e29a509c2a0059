// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineOrigin
import LupineTLS
import LupineTestKit
import LupineTransport
import Testing

@testable import LupineLoading

/// The effects of `configuration.lupine` on connections, over real sockets.
struct LupineOptionsTests {
    private static let reply = Script.Step.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    private static func identity(_ name: String) throws -> TLSIdentity {
        try TLSIdentity(pemChain: PKI.bytes("\(name)-chain.pem"), pemKey: PKI.bytes("\(name).key"))
    }

    private static func secure(
        _ change: (inout TLSServerConfiguration) throws -> Void = { _ in }
    ) throws -> OriginConfiguration {
        var serving = OriginConfiguration()
        var tls = TLSServerConfiguration(identities: [TLSServerIdentity(try identity("good"))])
        try change(&tls)
        serving.tls = tls
        return serving
    }

    private static func trusting(
        _ change: @escaping (inout URLSessionConfiguration.LupineOptions.TLS) -> Void = { _ in }
    ) -> URLSessionConfiguration {
        .ephemeral {
            $0.lupine.tls.roots = TrustRoots(includesSystem: false, files: [PKI.path("root.pem")])
            change(&$0.lupine.tls)
        }
    }

    // MARK: addresses

    @Test func aUnixDomainSocket() async throws {
        let path = NSTemporaryDirectory() + "lupine-\(UUID().uuidString.prefix(8)).sock"
        let origin = try LupineOrigin.Origin.start(at: .unix(path: path))
        let configuration = URLSessionConfiguration.ephemeral { $0.lupine.unixSocketPath = path }
        try await withEngine(configuration: configuration) { engine, _ in
            let answer = await (try engine.begin("http://any.test/status/204")).sink.answer
            #expect(answer.status == 204 && answer.metrics?.remoteAddress == .unix(path: path))
        }
        await origin.shutdown()
    }

    @Test(arguments: TestedHTTP.allCases) func aLocalAddress(over testedHTTP: TestedHTTP) async throws {
        let configuration = URLSessionConfiguration.ephemeral { $0.lupine.localBinding = "127.0.0.3" }
        try await withEngine(configuration: configuration, over: testedHTTP) { engine, origin in
            let answer = await (try engine.begin("http://h:\(origin.port)/status/204")).sink.answer
            #expect(answer.status == 204 && answer.metrics?.localAddress?.host == "127.0.0.3")
        }
    }

    @Test("a name is resolved once while the result is cached")
    func lookUps() async throws {
        let configuration = URLSessionConfiguration.ephemeral { $0.lupine.maximumConnectionAge = .zero }
        try await withEngine(configuration: configuration) { engine, origin in
            let settings = SessionSettingsTests.settings {
                $0.connectionProxyDictionary = [:]
                $0.lupine.maximumConnectionAge = .zero
            }
            // The result of a look-up is cached for 30 seconds; on a busy machine two requests may take that long.
            var second = EngineSink.Answer()
            var took = Duration.zero
            repeat {
                let resolving = SessionEngine(settings)
                let begun = ContinuousClock.now
                let first = await (try resolving.begin("http://localhost:\(origin.port)/status/204")).sink
                    .answer
                let dial = try #require(first.metrics?.dial)
                #expect(try #require(dial.lookUpStart) <= #require(dial.lookUpEnd))
                second = await (try resolving.begin("http://localhost:\(origin.port)/status/204")).sink.answer
                took = ContinuousClock.now - begun
            } while took > .seconds(25)
            #expect(second.status == 204 && second.metrics?.dial != nil)
            #expect(second.metrics?.dial?.lookUpStart == nil && second.metrics?.dial?.lookUpEnd == nil)
            let given = await (try engine.begin("http://localhost:\(origin.port)/status/204")).sink.answer
            #expect(given.metrics?.dial?.connectStart != nil && given.metrics?.dial?.lookUpStart == nil)
        }
    }

    // MARK: times and counts

    @Test func aConnectTimeoutCoversTheTunnel() async throws {
        var serving = OriginConfiguration()
        serving.script = ScriptPlan(.expectHead, .stall)
        let proxy = try LupineOrigin.Origin.start(configuration: serving)
        let configuration = URLSessionConfiguration.ephemeral {
            $0.connectionProxyDictionary = [
                "HTTPSEnable": 1, "HTTPSProxy": "127.0.0.1", "HTTPSPort": Int(proxy.port),
            ]
            $0.lupine.connectTimeout = .milliseconds(20)
        }
        let engine = SessionEngine(SessionSettings(configuration))
        let answer = await (try engine.begin("https://h/")).sink.answer
        #expect(answer.error?.isTimeOut(of: "h", .connect) == true)
        await withCheckedContinuation { continuation in engine.shutDown { continuation.resume() } }
        await proxy.shutdown()
    }

    @Test func aHandshakeTimeout() async throws {
        var serving = OriginConfiguration()
        serving.script = ScriptPlan(.stall)
        let configuration = Self.trusting { $0.handshakeTimeout = .milliseconds(20) }
        try await withEngine(serving: serving, configuration: configuration) { engine, origin in
            let answer = await (try engine.begin("https://h:\(origin.port)/")).sink.answer
            #expect(answer.error?.isTimeOut(of: "h", .tlsHandshake) == true)
        }
    }

    @Test(arguments: TestedHTTP.allCases) func connectionsInAll(over testedHTTP: TestedHTTP) async throws {
        let configuration = URLSessionConfiguration.ephemeral { $0.lupine.totalConnections = 1 }
        try await withEngine(configuration: configuration, over: testedHTTP) { engine, origin in
            for host in ["a", "b", "a"] {
                let answer = await (try engine.begin("http://\(host):\(origin.port)/status/204")).sink.answer
                #expect(answer.status == 204 && answer.metrics?.isReused == false)
            }
            #expect(origin.counts.connectionsAccepted == 3)
        }
    }

    @Test(arguments: TestedHTTP.allCases) func anIdleTimeForConnections(over testedHTTP: TestedHTTP)
        async throws
    {
        var serving = OriginConfiguration()
        serving.script = ScriptPlan(.expectHead, Self.reply, .expectEnd, .signal("closed"))
        let configuration = URLSessionConfiguration.ephemeral {
            $0.lupine.idleConnectionTimeout = .milliseconds(1)
        }
        try await withEngine(serving: serving, configuration: configuration, over: testedHTTP) {
            engine, origin in
            _ = await (try engine.begin("http://h:\(origin.port)/")).sink.answer
            await origin.gate("closed").wait()
        }
    }

    // MARK: TLS

    @Test func ownRoots() async throws {
        try await withEngine(serving: Self.secure(), configuration: Self.trusting()) { engine, origin in
            let url = "https://good.test:\(origin.port)/status/204"
            let answer = await (try engine.begin(url)).sink.answer
            #expect(answer.status == 204 && answer.metrics?.tls?.version == .v1_3)
        }
        try await withEngine(serving: Self.secure()) { engine, origin in
            let answer = await (try engine.begin("https://good.test:\(origin.port)/")).sink.answer
            let error = try #require(answer.error)
            #expect(URLError(error, url: nil).code == .serverCertificateUntrusted)
        }
    }

    @Test("TLS versions and ciphers come from the configuration and the options")
    func versionsAndCiphers() async throws {
        let narrow = Self.trusting {
            $0.cipherSuites = "TLS_CHACHA20_POLY1305_SHA256"
            $0.resumesSessions = false
        }
        try await withEngine(serving: Self.secure(), configuration: narrow) { engine, origin in
            let answer = await (try engine.begin("https://good.test:\(origin.port)/status/204")).sink.answer
            #expect(answer.metrics?.tls?.cipherSuiteNumber == 0x1303)
        }
        let old = Self.trusting()
        old.tlsMaximumSupportedProtocolVersion = .TLSv12
        try await withEngine(serving: Self.secure(), configuration: old) { engine, origin in
            let answer = await (try engine.begin("https://good.test:\(origin.port)/status/204")).sink.answer
            #expect(answer.metrics?.tls?.version == .v1_2)
        }
        let new = Self.trusting()
        new.tlsMinimumSupportedProtocolVersion = .TLSv13
        let serving = try Self.secure { $0.maximumVersion = .v1_2 }
        try await withEngine(serving: serving, configuration: new) { engine, origin in
            let answer = await (try engine.begin("https://good.test:\(origin.port)/")).sink.answer
            #expect(URLError(try #require(answer.error), url: nil).code == .secureConnectionFailed)
        }
    }

    @Test(
        "[U-10.5] the session's identity is presented to a server that requests it, unless the request must not"
    )
    func anIdentity() async throws {
        let roots = try Certificate.pem(PKI.bytes("client-root.pem"))
        let serving = try Self.secure { $0.clientCertificates = .requested(roots: roots) }
        let own = try Self.identity("client-ecdsa")
        let configuration = Self.trusting { $0.identity = own }
        try await withEngine(serving: serving, configuration: configuration) { engine, origin in
            let url = try #require(URL(string: "https://good.test:\(origin.port)/status/204"))
            let answer = await (try engine.begin(url.absoluteString)).sink.answer
            #expect(answer.status == 204)
            let handshake = try #require(await origin.handshake(on: 0))
            #expect(handshake.clientCertificates.first == own.certificate)

            let route = try engine.route(for: url, isWebSocket: false, mayIdentify: false)
            var fields = Fields()
            try fields.append(.host, route.hostField)
            let sink = EngineSink()
            engine.submit(
                Exchange(
                    head: RequestHead(method: .get, target: .origin(route.target), fields: fields),
                    origin: route.origin, sink: sink))
            #expect(await sink.answer.status == 204)
            let anonymous = try #require(await origin.handshake(on: 1))
            #expect(anonymous.clientCertificates.isEmpty)
        }
    }

    @Test func aKeyLog() async throws {
        let file = URL(fileURLWithPath: NSTemporaryDirectory() + "lupine-\(UUID().uuidString.prefix(8)).keys")
        defer { try? FileManager.default.removeItem(at: file) }
        let configuration = Self.trusting { $0.keyLogPath = file.path }
        try await withEngine(serving: Self.secure(), configuration: configuration) { engine, origin in
            _ = await (try engine.begin("https://good.test:\(origin.port)/status/204")).sink.answer
            #expect(try String(contentsOf: file, encoding: .utf8).contains("CLIENT_"))
        }
    }

    // MARK: messages

    @Test func limitsOfHeads() async throws {
        let configuration = URLSessionConfiguration.ephemeral { $0.lupine.parserLimits.headBytes = 20 }
        try await withEngine(configuration: configuration) { engine, origin in
            let answer = await (try engine.begin("http://h:\(origin.port)/status/204")).sink.answer
            #expect(
                answer.error == .http(host: "h", port: origin.port, .limitExceeded(.headBytes, allowed: 20)))
        }
    }

    @Test("the leniencies for heads", arguments: [true, false])
    func leniency(isStrict: Bool) async throws {
        var serving = OriginConfiguration()
        serving.script = ScriptPlan(.expectHead, .send("HTTP/1.1 200 OK\nContent-Length: 2\n\nok"), .stall)
        let configuration = URLSessionConfiguration.ephemeral { if isStrict { $0.lupine.leniency = .strict } }
        try await withEngine(serving: serving, configuration: configuration) { engine, origin in
            let answer = await (try engine.begin("http://h:\(origin.port)/")).sink.answer
            #expect((answer.error == nil) == !isStrict)
        }
    }
}
