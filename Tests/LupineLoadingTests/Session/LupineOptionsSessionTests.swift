// SPDX-License-Identifier: MIT

import Foundation
import LupineCoding
import LupineOrigin
import LupineTLS
import LupineTestKit
import LupineTransport
import Testing

@testable import LupineLoading

/// `configuration.lupine` through all layers: the effect of each option on a session.
@Suite(.timeLimit(.minutes(10)))
struct LupineOptionsSessionTests {
    // MARK: addresses

    @Test func aUnixDomainSocket() async throws {
        let path = NSTemporaryDirectory() + "lupine-\(UUID().uuidString.prefix(8)).sock"
        let local = try LupineOrigin.Origin.start(at: .unix(path: path))
        try await withStage(configuration: .ephemeral { $0.lupine.unixSocketPath = path }) {
            stage async throws in
            #expect(try await stage.get("/bytes/5").text.utf8.isEmpty == false)
            #expect(stage.origin.counts.connectionsAccepted == 0 && local.counts.connectionsAccepted == 1)
        }
        await local.shutdown()
    }

    @Test(
        "connections use the local address, and the overridden addresses of names",
        arguments: TestedHTTP.allCases)
    func addresses(over testedHTTP: TestedHTTP) async throws {
        let delegate = Taking()
        let configuration = URLSessionConfiguration.ephemeral { $0.lupine.localBinding = "127.0.0.4" }
        try await withStage(configuration: configuration, delegate: delegate, over: testedHTTP) { stage in
            stage.session.dataTask(with: try stage.url("/status/204", host: "no.such.name.test")).resume()
            await delegate.log.wait(for: "complete nil")
            let hop = try #require(delegate.metrics.withLock { $0 }?.transactionMetrics.last)
            #expect(hop.localAddress == "127.0.0.4" && hop.remoteAddress == "127.0.0.1")
        }
    }

    // MARK: heads

    @Test(
        "omitted fields are not sent, unless the request sets them",
        arguments: TestedHTTP.allCases)
    func omittedFields(over testedHTTP: TestedHTTP) async throws {
        let configuration = URLSessionConfiguration.ephemeral {
            $0.lupine.omittedFields = ["user-agent", "Accept", "ACCEPT-LANGUAGE", "no name"]
        }
        try await withStage(configuration: configuration, over: testedHTTP) { stage async throws in
            let text = try await stage.get("/headers").text.lowercased()
            #expect(
                !text.contains("user-agent") && !text.contains("\"accept\"")
                    && !text.contains("accept-language"))
            #expect(text.contains("accept-encoding") && text.contains("host"))
        }
    }

    @Test("a head keeps its lines, their order, its version and its reason")
    func heads() async throws {
        let plan = ScriptPlan([
            Script([
                .expectHead,
                .send(
                    Array("HTTP/1.0 299 Odd one\r\nz: 1\r\nA: 2\r\nz: 3\r\nContent-Length: 0\r\n\r\n".utf8)),
                .close,
            ])
        ])
        let delegate = Taking()
        try await withStage(plan, configuration: .ephemeral, delegate: delegate) { stage in
            let task = stage.session.dataTask(with: try stage.url("/"))
            task.resume()
            await delegate.log.wait(for: "complete nil")
            let wire = try #require(task.response as? HTTPURLResponse).lupine
            #expect(wire.version == "HTTP/1.0" && wire.reason == "Odd one")
            #expect(
                wire.fields.map { "\($0.name)=\($0.value)" } == ["z=1", "A=2", "z=3", "Content-Length=0"])
        }
        let url = try #require(URL(string: "http://a.test/"))
        let made = HTTPURLResponse(
            url: url, statusCode: 404, httpVersion: nil, headerFields: ["B": "1", "A": "2"])
        #expect(made?.lupine.reason == "Not Found" && made?.lupine.fields.map(\.name) == ["A", "B"])
    }

    // MARK: times and counts

    @Test func aConnectTimeoutCoversTheTunnel() async throws {
        let configuration = URLSessionConfiguration.ephemeral {
            $0.lupine.connectTimeout = .milliseconds(20)
        }
        let proxy = try LupineOrigin.Origin.start(configuration: .scripted(.expectHead, .stall))
        configuration.connectionProxyDictionary = [
            "HTTPSEnable": 1, "HTTPSProxy": "127.0.0.1", "HTTPSPort": Int(proxy.port),
        ]
        let session = URLSession(configuration: configuration)
        let url = try #require(URL(string: "https://origin.test/"))
        let error = await #expect(throws: URLError.self) { try await session.data(from: url) }
        #expect(error?.code == .timedOut)
        session.invalidateAndCancel()
        await proxy.shutdown()
    }

    @Test func aHandshakeTimeout() async throws {
        let plan = ScriptPlan([Script([.expectBytes(1), .stall], on: .socket)])
        let configuration = URLSessionConfiguration.ephemeral {
            $0.lupine.tls.handshakeTimeout = .milliseconds(20)
        }
        try await withStage(plan, configuration: configuration) { stage in
            let end = try await stage.load(URLRequest(url: stage.url(scheme: "https")))
            #expect(end.code == .timedOut)
        }
    }

    @Test("with one connection in total, hosts use it one after the other", arguments: TestedHTTP.allCases)
    func connectionsInAll(over testedHTTP: TestedHTTP) async throws {
        try await withStage(configuration: .ephemeral { $0.lupine.totalConnections = 1 }, over: testedHTTP) {
            stage async throws in
            for host in ["a.test", "b.test", "a.test"] {
                #expect(
                    try await stage.load(URLRequest(url: stage.url("/status/204", host: host))).status == 204)
            }
            #expect(stage.origin.counts.connectionsAccepted == 3)
        }
    }

    @Test(
        "a connection that is too old or idle for too long is not reused", arguments: [0, 1],
        TestedHTTP.allCases)
    func connectionsThatEnd(_ option: Int, over testedHTTP: TestedHTTP) async throws {
        let plan = ScriptPlan(.expectHead, .reply(), .expectEnd, .signal("closed"))
        let configuration = URLSessionConfiguration.ephemeral {
            if option == 0 {
                $0.lupine.maximumConnectionAge = .zero
            } else {
                $0.lupine.idleConnectionTimeout = .milliseconds(1)
            }
        }
        try await withStage(plan, configuration: configuration, over: testedHTTP) { stage async throws in
            #expect(try await stage.get().text == "ok")
            await stage.origin.gate("closed").wait()
        }
    }

    // MARK: rates

    @Test("content is received at the allowed rate", arguments: TestedHTTP.allCases)
    func aReceiveRate(over testedHTTP: TestedHTTP) async throws {
        let delegate = Taking()
        let configuration = URLSessionConfiguration.ephemeral { $0.lupine.receiveRate = 4000 }
        try await withStage(configuration: configuration, delegate: delegate, over: testedHTTP) { stage in
            stage.session.dataTask(with: try stage.url("/bytes/3000")).resume()
            await delegate.log.wait(for: "complete nil")
            let pieces = delegate.pieces.withLock { $0 }
            #expect(pieces.reduce(0, +) == 3000)
            #expect(pieces.allSatisfy { $0 <= 1000 }, "a quarter of a second's worth at once: \(pieces)")
        }
    }

    @Test("an early response stops the upload", arguments: TestedHTTP.allCases)
    func aSendRate(over testedHTTP: TestedHTTP) async throws {
        let plan = ScriptPlan(.expectHead, .expectBytes(1), .reply("early"), .stall)
        let delegate = Taking()
        let configuration = URLSessionConfiguration.ephemeral { $0.lupine.sendRate = 1000 }
        try await withStage(plan, configuration: configuration, delegate: delegate, over: testedHTTP) {
            stage in
            var request = URLRequest(url: try stage.url())
            request.httpMethod = "PUT"
            let task = stage.session.uploadTask(with: request, from: Data(repeating: 1, count: 100_000))
            task.resume()
            await delegate.log.wait(for: "complete nil")
            #expect(task.countOfBytesSent > 0 && task.countOfBytesSent < 100_000)
        }
    }

    // MARK: messages

    @Test(
        "without decoding a body is delivered as sent, and Accept-Encoding is not sent",
        arguments: TestedHTTP.allCases
    )
    func decodingOff(over testedHTTP: TestedHTTP) async throws {
        let packed = try CodedBodies.gzip(Array("plain".utf8))
        let plan = ScriptPlan(.expectHead, .reply(packed, "Content-Encoding: gzip\r\n"), .stall)
        try await withStage(
            plan, configuration: .ephemeral { $0.lupine.decodesContent = false }, over: testedHTTP
        ) { stage in
            let (data, response) = try await stage.session.data(from: try stage.url())
            #expect(Array(data) == packed && response.expectedContentLength == Int64(packed.count))
            let sent = String(decoding: stage.origin.receivedAsHTTP1(on: 0), as: UTF8.self)
            #expect(!sent.contains("Accept-Encoding"))
        }
    }

    @Test(
        "a decoded body may have the limit's length, and no byte more",
        arguments: [100, 99], TestedHTTP.allCases)
    func anExpansionLimit(_ limit: Int, over testedHTTP: TestedHTTP) async throws {
        let packed = try CodedBodies.gzip([UInt8](repeating: 65, count: 100))
        let plan = ScriptPlan(.expectHead, .reply(packed, "Content-Encoding: gzip\r\n"), .stall)
        let configuration = URLSessionConfiguration.ephemeral {
            $0.lupine.expansionLimit = ExpansionLimit(bytes: limit)
        }
        try await withStage(plan, configuration: configuration, over: testedHTTP) { stage in
            let end = try await stage.get()
            #expect(end.text.utf8.count == (limit == 100 ? 100 : 0))
            #expect(end.code == (limit == 100 ? nil : .cannotDecodeRawData))
        }
    }

    @Test(
        "a collected body may have the limit's length, and no byte more",
        arguments: [100, 99], [true, false])
    func aCollectedBody(_ limit: Int, _ isAwaited: Bool) async throws {
        let configuration = URLSessionConfiguration.ephemeral { $0.lupine.collectedBodyLimit = limit }
        try await withStage(configuration: configuration) { stage in
            let url = try stage.url("/bytes/100")
            let code: URLError.Code?
            if isAwaited {
                code = await stage.load(URLRequest(url: url)).code
            } else {
                code = await withCheckedContinuation { continuation in
                    stage.session.dataTask(with: url) { _, _, error in
                        continuation.resume(returning: (error as? URLError)?.code)
                    }.resume()
                }
            }
            #expect(code == (limit == 100 ? nil : .dataLengthExceedsMaximum))
        }
    }

    @Test(
        "Expect: 100-continue is sent from the threshold on; a refused body is not sent", arguments: [3, 4],
        TestedHTTP.allCases)
    func anExpectThreshold(_ threshold: Int64, over testedHTTP: TestedHTTP) async throws {
        let isAnnounced = threshold == 3
        let plan = ScriptPlan(
            .expectHead,
            isAnnounced ? .reply("no", status: "417 Expectation Failed") : .expectBytes(3),
            isAnnounced ? .expectEnd : .reply(), .stall)
        let configuration = URLSessionConfiguration.ephemeral {
            $0.lupine.expectContinueThreshold = threshold
            $0.lupine.continueTimeout = .seconds(60)
        }
        try await withStage(plan, configuration: configuration, over: testedHTTP) { stage in
            var request = URLRequest(url: try stage.url())
            request.httpMethod = "PUT"
            let (_, response) = try await stage.session.upload(for: request, from: Data("abc".utf8))
            #expect((response as? HTTPURLResponse)?.statusCode == (isAnnounced ? 417 : 200))
            let sent = String(decoding: stage.origin.receivedAsHTTP1(on: 0), as: UTF8.self)
            #expect(sent.contains("Expect: 100-continue") == isAnnounced)
            #expect(sent.hasSuffix("\r\n\r\n" + (isAnnounced ? "" : "abc")))
        }
    }

    @Test("the body is sent if no response to Expect arrives in time", arguments: TestedHTTP.allCases)
    func aContinueTimeout(over testedHTTP: TestedHTTP) async throws {
        let plan = ScriptPlan(.expectHead, .expectBytes(3), .reply(), .stall)
        let configuration = URLSessionConfiguration.ephemeral {
            $0.lupine.expectContinueThreshold = 1
            $0.lupine.continueTimeout = .milliseconds(1)
        }
        try await withStage(plan, configuration: configuration, over: testedHTTP) { stage in
            var request = URLRequest(url: try stage.url())
            request.httpMethod = "PUT"
            let (data, _) = try await stage.session.upload(for: request, from: Data("abc".utf8))
            #expect(data == Data("ok".utf8))
        }
    }

    @Test("the limits and the leniency for heads", arguments: [true, false])
    func heads(_ isStrict: Bool) async throws {
        let plan = ScriptPlan(.expectHead, .send("HTTP/1.1 200 OK\nContent-Length: 2\n\nok"), .stall)
        let strict = URLSessionConfiguration.ephemeral { if isStrict { $0.lupine.leniency = .strict } }
        try await withStage(plan, configuration: strict) { stage async throws in
            #expect(try await stage.get().code == (isStrict ? .badServerResponse : nil))
        }
        let short = URLSessionConfiguration.ephemeral {
            if isStrict { $0.lupine.parserLimits.headBytes = 20 }
        }
        try await withStage(configuration: short) { stage async throws in
            #expect(try await stage.get("/status/204").code == (isStrict ? .dataLengthExceedsMaximum : nil))
        }
    }

    // MARK: TLS

    @Test("the configured roots, versions, ciphers and identity are used, and keys are logged")
    func tls() async throws {
        let own = try Self.identity("client-ecdsa")
        var tls = TLSServerConfiguration(identities: [TLSServerIdentity(try Self.identity("good"))])
        tls.clientCertificates = .requested(roots: try Certificate.pem(PKI.bytes("client-root.pem")))
        var serving = OriginConfiguration()
        serving.tls = tls
        let file = NSTemporaryDirectory() + "lupine-\(UUID().uuidString.prefix(8)).keys"
        defer { try? FileManager.default.removeItem(atPath: file) }
        let delegate = Taking()
        let configuration = URLSessionConfiguration.ephemeral {
            $0.lupine.tls.roots = TrustRoots(includesSystem: false, files: [PKI.path("root.pem")])
            $0.lupine.tls.minimumVersion = .v1_3
            $0.lupine.tls.cipherSuites = "TLS_CHACHA20_POLY1305_SHA256"
            $0.lupine.tls.identity = own
            $0.lupine.tls.keyLogPath = file
        }
        try await withStage(serving: serving, configuration: configuration, delegate: delegate) { stage in
            stage.session.dataTask(with: try stage.url("/status/204", host: "good.test", scheme: "https"))
                .resume()
            await delegate.log.wait(for: "complete nil")
            let hop = try #require(delegate.metrics.withLock { $0 }?.transactionMetrics.last)
            #expect(hop.negotiatedTLSProtocolVersion == .TLSv13)
            #expect(hop.negotiatedTLSCipherSuite == .CHACHA20_POLY1305_SHA256)
            let handshake = try #require(await stage.origin.handshake(on: 0))
            #expect(handshake.clientCertificates.first == own.certificate)
            #expect(try String(contentsOfFile: file, encoding: .utf8).contains("CLIENT_"))
        }
    }

    private static func identity(_ name: String) throws -> TLSIdentity {
        try TLSIdentity(pemChain: PKI.bytes("\(name)-chain.pem"), pemKey: PKI.bytes("\(name).key"))
    }
}

/// A delegate that records the sizes of a body's pieces, and the metrics.
private final class Taking: NSObject, URLSessionDataDelegate {
    let log = CallLog()
    let pieces = Lock<[Int]>([])
    let metrics = Lock<URLSessionTaskMetrics?>(nil)

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        pieces.withLock { $0.append(data.count) }
    }
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) { self.metrics.withLock { $0 = metrics } }
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        log.add("complete \((error as? URLError).map { "\($0.code.rawValue)" } ?? "nil")")
    }
}

extension OriginConfiguration {
    /// Returns a configuration whose connections all follow these steps.
    fileprivate static func scripted(_ steps: Script.Step...) -> OriginConfiguration {
        var configuration = OriginConfiguration()
        configuration.script = ScriptPlan([Script(steps)])
        return configuration
    }
}
