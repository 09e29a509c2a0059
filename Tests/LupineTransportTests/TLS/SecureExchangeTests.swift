// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineOrigin
import LupineTLS
import LupineTestKit
import Testing

@testable import LupineTransport

/// Requests and responses of every shape over TLS.
@Suite struct SecureExchangeTests {
    @Test(arguments: [TLSVersion.v1_2, .v1_3]) func metricsOfAGet(_ version: TLSVersion) async throws {
        let serving = try SecureStage.serving { $0.maximumVersion = version }
        try await withSecureStack(serving) { client, origin in
            for isReused in [false, true] {
                let response = try await client.get(SecureStage.url(origin, "/bytes/1000"))
                #expect(try await response.body.collect().count == 1_000)
                let metrics = try #require(response.body.metrics)
                #expect(metrics.isReusedConnection == isReused)
                #expect(metrics.tlsVersion == version && metrics.tlsCipherSuite?.hasPrefix("TLS_") == true)
                #expect(!metrics.isTLSResumed && metrics.applicationProtocol == "http/1.1")
                let milestones = [
                    metrics.connectStart, metrics.secureConnectionStart, metrics.secureConnectionEnd,
                    metrics.connectEnd, metrics.requestStart, metrics.requestEnd, metrics.responseStart,
                    metrics.responseEnd,
                ]
                #expect(milestones.count { $0 == nil } == (isReused ? 4 : 0))
                let knownMilestones = milestones.compactMap { $0 }
                #expect(knownMilestones == knownMilestones.sorted())
            }
            #expect(client.connectionsOpened == 1)
            #expect(origin.counts.handshakesCompleted == 1)
            #expect(origin.handshakes(on: 0).first?.serverName == "good.test")
        }
    }

    @Test func anAddressIsNotSentAsServerName() async throws {
        try await withSecureStack { client, origin in
            let response = try await client.get(origin.url + "/get")
            #expect(response.status.code == 200)
            let handshake = await origin.handshake(on: 0)
            #expect(handshake?.info != nil && handshake?.serverName == nil)
        }
    }

    @Test func aServerWithoutALPNSpeaksHTTP() async throws {
        try await withSecureStack(SecureStage.serving { $0.applicationProtocols = [] }) { client, origin in
            let response = try await client.get(SecureStage.url(origin, "/get"))
            _ = try await response.body.collect()
            #expect(response.body.metrics?.applicationProtocol == nil)
        }
    }

    @Test func anotherProtocolIsNotSpoken() async throws {
        try await withSecureStack(
            SecureStage.serving { $0.applicationProtocols = ["mail", "http/1.1"] },
            settings: .with { $0.tls.applicationProtocols = ["mail", "http/1.1"] }
        ) { client, origin in
            let url = SecureStage.url(origin)
            let error = await failure { () throws(TransportError) in try await client.get(url) }
            #expect(error == .tls(host: "good.test", port: origin.port, .protocolNotOffered("mail")))
            #expect(origin.received(on: 0).isEmpty)
        }
    }

    @Test(arguments: [0, 1, 16_000, 16_384, 16_385, 70_000, 3_000_000])
    func contentBothWays(_ count: Int) async throws {
        try await withSecureStack { client, origin in
            origin.route("POST", "/mirror") { request throws(Refusal) in
                OriginResponse(body: .bytes(request.body))
            }
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            for _ in 0..<2 {
                let response = try await client.send(
                    HTTPRequest(
                        method: .post, url: SecureStage.url(origin, "/mirror"), body: .bytes(bytes)))
                #expect(try await response.body.collect() == bytes)
            }
            #expect(client.connectionsOpened == 1)
        }
    }

    @Test func aStreamInChunks() async throws {
        try await withSecureStack { client, origin in
            origin.route("PUT", "/mirror") { request throws(Refusal) in
                OriginResponse(body: .bytes(request.body))
            }
            let count = Box(0)
            let body = HTTPRequest.Body.stream(length: nil) {
                guard count.value < 30 else { return nil }
                count.update { $0 += 1 }
                await Task.yield()
                return [UInt8](repeating: UInt8(count.value), count: 10_000)
            }
            let response = try await client.send(
                HTTPRequest(method: .put, url: SecureStage.url(origin, "/mirror"), body: body))
            let expected = (1...30).flatMap { [UInt8](repeating: UInt8($0), count: 10_000) }
            #expect(try await response.body.collect() == expected)
        }
    }

    /// The origin's buffers are small, so that sending has to wait repeatedly.
    @Test(arguments: [1, 65_536, 2_000_001]) func aFileGoesThroughMemory(_ count: Int) async throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }
        let path = try TemporaryFile.make(bytes)
        defer { TemporaryFile.remove(path) }
        try await withSecureStack(buffers: 16_384) { client, origin in
            origin.route("POST", "/mirror") { request throws(Refusal) in
                OriginResponse(body: .bytes(request.body))
            }
            let response = try await client.send(
                HTTPRequest(method: .post, url: SecureStage.url(origin, "/mirror"), body: .file(path: path)))
            let isComplete = try await response.body.collect() == bytes
            #expect(isComplete)
        }
    }

    @Test func manyAtOnce() async throws {
        try await withSecureStack(settings: .with { $0.connectionsPerHost = 64 }) { client, origin in
            try await withThrowingTaskGroup(of: Int.self) { group in
                for index in 0..<64 {
                    let url = SecureStage.url(origin, "/bytes/\(index * 1_000)")
                    group.addTask {
                        var total = 0
                        for _ in 0..<8 { total += try await client.get(url).body.collect().count }
                        return total
                    }
                }
                let total = try await group.reduce(0, +)
                #expect(total == 8 * (0..<64).reduce(0) { $0 + $1 * 1_000 })
            }
            #expect(origin.counts.requests == 512)
            #expect(client.connectionsOpened <= 64)
            #expect(origin.counts.handshakesCompleted == client.connectionsOpened)
        }
    }

    @Test func eachByteOfAResponseInASeparateRecord() async throws {
        let answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
        let plan = ScriptPlan(
            .expectHead, .sendByteByByte(Array(answer.utf8)), .expectHead,
            .sendByteByByte(Array(answer.utf8)), .stall)
        try await withSecureStack(SecureStage.serving(["good"], plan)) { client, origin in
            for _ in 0..<2 {
                let text = try await client.get(SecureStage.url(origin)).body.text()
                #expect(text == "hello")
            }
            #expect(client.connectionsOpened == 1)
        }
    }

    /// The consumer pauses: reading stops, and continues where it stopped, including plaintext in the engine.
    @Test func aPausedResponseLosesNothing() async throws {
        let bytes = (0..<2_000_000).map { UInt8(truncatingIfNeeded: $0 &* 13 &+ $0 >> 8) }
        try await withSecurePool { stage in
            stage.origin.route("GET", "/fixed") { _ throws(Refusal) in OriginResponse(body: .bytes(bytes)) }
            let sink = RecordingSink(demand: { _ in .pause })
            let pair = try stage.exchange("/fixed", profile: SecurePool.profile(), sink: sink)
            stage.pool.submit(pair.exchange)
            await sink.headReceived.wait()
            while sink.log.value.ends == 0 {
                pair.exchange.resume()
                await stage.group.loops[0].run {}
            }
            let isComplete = sink.log.value.body == bytes
            #expect(isComplete && sink.failure == nil)
        }
    }

    @Test func aDownloadIntoAFile() async throws {
        try await withSecurePool { stage in
            let path = TemporaryFile.path()
            defer { TemporaryFile.remove(path) }
            let target = FileTarget(try Descriptor.writing(path: path))
            let sink = RecordingSink(plan: { .splice(into: target) })
            try await stage.send("/bytes/1000000", profile: SecurePool.profile(), sink: sink)
            #expect(sink.failure == nil && sink.log.value.spliced == 1_000_000)
            #expect(try Descriptor.reading(path: path).fileSize() == 1_000_000)
        }
    }

    @Test func ratesHoldInsideTLS() async throws {
        try await withSecureStack(settings: .with { $0.receiveRate = 2_000_000 }) { client, origin in
            let body = try await client.get(SecureStage.url(origin, "/bytes/300000")).body.collect()
            #expect(body.count == 300_000)
        }
    }

    @Test func anUpgradedConnectionStaysInsideTLS() async throws {
        let answer = "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: chat\r\n\r\nhi"
        let plan = ScriptPlan(
            .expectHead, .send(answer), .expectBytes(100_000), .send("bye"), .close)
        try await withSecurePool(SecureStage.serving(["good"], plan)) { stage in
            let recording = RecordingUpgrade()
            let sink = RecordingSink(upgrade: { connection in
                _ = connection.send([UInt8](repeating: 1, count: 99_999))
                _ = connection.send([1])
                return recording.handler
            })
            try await stage.send(
                "/", fields: [(.connection, "upgrade"), (.upgrade, "chat")],
                profile: SecurePool.profile(), sink: sink)
            await recording.ended.wait()
            #expect(recording.text.value == "hibye")
            #expect(recording.error.value == .some(nil))
        }
    }

    @Test func redirectsCrossBetweenPlainAndSecure() async throws {
        try await withSecureStack(settings: .with { $0.redirectLimit = 5 }) { client, secure in
            try await withStack(settings: .with { _ in }) { _, plain in
                let secureURL = SecureStage.url(secure, host: "127.0.0.1", "/bytes/5")
                plain.route("GET", "/up") { _ throws(Refusal) in
                    var response = try OriginResponse(302, "text/plain", [])
                    try response.add("Location", secureURL)
                    return response
                }
                let plainURL = plain.url + "/bytes/7"
                secure.route("GET", "/down") { _ throws(Refusal) in
                    var response = try OriginResponse(302, "text/plain", [])
                    try response.add("Location", plainURL)
                    return response
                }
                let up = try await client.get(plain.url + "/up").body.collect()
                #expect(up.count == 5)
                let url = SecureStage.url(secure, host: "127.0.0.1", "/down")
                let down = try await client.get(url).body.collect()
                #expect(down.count == 7)
            }
        }
    }
}

/// Records what an upgraded connection receives.
final class RecordingUpgrade: Sendable {
    let text = Box("")
    let error = Box<TransportError??>(nil)
    let ended = Gate()
    let drained = Gate()

    var handler: any UpgradeHandler { Handler(self) }

    private final class Handler: UpgradeHandler {
        private let recording: RecordingUpgrade

        init(_ recording: RecordingUpgrade) { self.recording = recording }

        func received(_ bytes: Span<UInt8>) -> Demand {
            var copy: [UInt8] = []
            for index in bytes.indices { copy.append(bytes[index]) }
            recording.text.update { $0 += String(decoding: copy, as: UTF8.self) }
            return .more
        }

        func drained() { recording.drained.open() }

        func closed(_ error: TransportError?) {
            recording.error.update { $0 = .some(error) }
            recording.ended.open()
        }
    }
}
