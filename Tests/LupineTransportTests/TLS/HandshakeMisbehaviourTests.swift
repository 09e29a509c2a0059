// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineOrigin
import LupineTLS
import LupineTestKit
import Testing

@testable import LupineTransport

/// Servers that answer a ClientHello with something other than a handshake: the expected error, no byte of a request, no second
/// attempt, and nothing left on either side.
@Suite(.timeLimit(.minutes(30))) struct HandshakeMisbehaviourTests {
    /// The TLS error that a row expects.
    enum Expected: Sendable {
        case exactly(TLSError)
        /// The text comes from OpenSSL, and differs between its versions.
        case violation

        func matches(_ error: TransportError?, _ origin: OriginServer) -> Bool {
            switch (self, error) {
            case (.exactly(let expected), .tls("good.test", origin.port, let found)): expected == found
            case (.violation, .tls("good.test", origin.port, .protocolViolation)): true
            case (.exactly, _), (.violation, _): false
            }
        }
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let bytes: [UInt8]
        let expected: Expected

        init(_ description: String, _ bytes: [UInt8], _ expected: Expected) {
            testDescription = description
            self.bytes = bytes
            self.expected = expected
        }
    }

    private static func record(_ type: UInt8, _ content: [UInt8], version: UInt8 = 3) -> [UInt8] {
        [type, 3, version, UInt8(content.count >> 8), UInt8(content.count & 255)] + content
    }

    /// Returns a ServerHello without extensions.
    private static func hello(version: UInt8, cipher: [UInt8]) -> [UInt8] {
        record(22, [2, 0, 0, 38, 3, version] + [UInt8](repeating: 7, count: 32) + [0] + cipher + [0])
    }

    static let rows: [Row] = [
        Row("plain HTTP", Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8), .exactly(.notTLS)),
        Row("a mail server", Array("220 mail.test ESMTP ready\r\n".utf8), .exactly(.notTLS)),
        Row("noise", [UInt8](repeating: 0xA5, count: 200), .exactly(.notTLS)),
        Row("zeros", [UInt8](repeating: 0, count: 200), .exactly(.notTLS)),
        Row("close_notify", record(21, [1, 0]), .exactly(.closedInHandshake)),
        Row("a record longer than allowed", [22, 3, 3, 0x48, 0x01] + [2, 0, 0, 38], .violation),
        Row("a record of the largest encodable length", [22, 3, 3, 0xFF, 0xFF], .violation),
        Row("a record of an unknown type", record(99, [1, 2, 3]), .violation),
        Row("unencrypted content", record(23, Array("HTTP/1.1 200 OK\r\n\r\n".utf8)), .violation),
        Row("ChangeCipherSpec first", record(20, [1]), .violation),
        Row("a heartbeat", record(24, [1, 0x40, 0]), .violation),
        Row("records without content", (0..<200).flatMap { _ in record(22, []) }, .violation),
        Row("warnings without end", (0..<200).flatMap { _ in record(21, [1, 90]) }, .violation),
        Row("half an alert", record(21, [2]), .violation),
        Row("a ClientHello", record(22, [1, 0, 0, 2, 3, 3]), .violation),
        Row("a message of 16 MiB", record(22, [2, 0xFF, 0xFF, 0xFF]), .violation),
        Row("a certificate before the hello", record(22, [11, 0, 0, 3, 0, 0, 0]), .violation),
        Row("a hello without content", record(22, [2, 0, 0, 0]), .violation),
        Row("SSL 3.0", hello(version: 0, cipher: [0, 0x2F]), .exactly(.versionNotShared)),
        Row("TLS 1.1", hello(version: 2, cipher: [0xC0, 0x2F]), .exactly(.versionNotShared)),
        Row("a cipher that was not offered", hello(version: 3, cipher: [0, 1]), .violation),
    ]

    @Test(arguments: rows) func insteadOfAServerHello(_ row: Row) async throws {
        let plan = ScriptPlan(on: .socket, .expectBytes(5), .send(row.bytes), .expectEnd)
        try await withSecureStack(SecureStage.serving(["good"], plan)) { client, origin in
            let url = SecureStage.url(origin)
            let error = await failure { () throws(TransportError) in try await client.get(url) }
            #expect(row.expected.matches(error, origin), "\(String(describing: error))")
            #expect(client.connectionsOpened == 0 && origin.counts.connectionsAccepted == 1)
            await origin.waitUntilEmpty()
        }
    }

    /// The same bytes, sent one by one, lead to the same error.
    @Test(arguments: rows.filter { $0.bytes.count < 100 }) func inPieces(_ row: Row) async throws {
        let plan = ScriptPlan(on: .socket, .expectBytes(5), .sendByteByByte(row.bytes), .expectEnd)
        try await withSecureStack(SecureStage.serving(["good"], plan)) { client, origin in
            let url = SecureStage.url(origin)
            let error = await failure { () throws(TransportError) in try await client.get(url) }
            #expect(row.expected.matches(error, origin), "\(String(describing: error))")
        }
    }

    // MARK: alerts

    /// Returns the error that reports an alert in answer to a ClientHello.
    private static func error(for alert: TLSAlert) -> TLSError {
        switch alert {
        case .handshakeFailure, .insufficientSecurity: .cipherNotShared
        case .protocolVersion: .versionNotShared
        case .certificateRequired: .clientCertificateRequired
        case .noRenegotiation: .renegotiation
        default: .alert(alert)
        }
    }

    @Test func everyAlertIsReported() async throws {
        let scripts = (0...255).map { number in
            Script([.expectBytes(5), .sendAlert(UInt8(number)), .expectEnd], on: .socket)
        }
        try await withSecureStack(SecureStage.serving(["good"], ScriptPlan(scripts))) { client, origin in
            let url = SecureStage.url(origin)
            for number in 0...255 {
                let expected = Self.error(for: TLSAlert(rawValue: UInt8(number)))
                let error = await failure { () throws(TransportError) in try await client.get(url) }
                #expect(error == .tls(host: "good.test", port: origin.port, expected), "alert \(number)")
            }
            #expect(origin.counts.connectionsAccepted == 256)
            await origin.waitUntilEmpty()
        }
    }

    // MARK: truncated flights

    /// Makes an attempt during which the server's flight is cut. Returns its error, and whether a connection was established.
    private static func attempt(
        _ version: TLSVersion, _ cut: WireCut, timeout: Duration = .seconds(3_600)
    ) async throws -> (error: TransportError?, isEstablished: Bool) {
        let plan = ScriptPlan(on: .socket, .startTLS(cutting: cut), .expectHead, .reply("ok"), .expectEnd)
        let serving = try SecureStage.serving(["ecdsa"], plan) { $0.maximumVersion = version }
        return try await withSecureStack(serving, settings: .with { $0.tlsHandshakeTimeout = timeout }) {
            client, origin in
            let url = SecureStage.url(origin, host: "ecdsa.test")
            let error = await failure { () throws(TransportError) in
                try await client.get(url).body.collect()
            }
            await client.shutdown()
            await origin.waitUntilEmpty()
            if client.connectionsOpened == 0 {
                #expect(origin.received(on: 0).isEmpty && origin.counts.requests == 0)
            }
            return (error, client.connectionsOpened > 0)
        }
    }

    /// Cuts the server's flight at many offsets: before the handshake is complete the attempt fails; after it the connection is
    /// established and then lost.
    @Test(arguments: [TLSVersion.v1_2, .v1_3]) func cutAnywhere(_ version: TLSVersion) async throws {
        var firstComplete: Int?
        var offsets = Array(0...12)
        while let offset = offsets.last, offset < 4_000, firstComplete == nil {
            offsets.append(offset + 83)
            let end = try await Self.attempt(version, WireCut(after: offset + 83, .end))
            if end.isEstablished { firstComplete = offset + 83 }
        }
        let completeLength = try #require(firstComplete)
        offsets = offsets.filter { $0 < completeLength }
        for offset in offsets {
            let end = try await Self.attempt(version, WireCut(after: offset, .end))
            let port = if case .tls(_, let port, _) = end.error { port } else { UInt16(0) }
            #expect(end.error == .tls(host: "ecdsa.test", port: port, .closedInHandshake), "\(offset)")
            #expect(!end.isEstablished)
            let reset = try await Self.attempt(version, WireCut(after: offset, .reset))
            #expect(
                reset.error?.withoutPort == .connectionLost(host: "ecdsa.test", port: 0, .connectionReset),
                "\(offset)")
            #expect(!reset.isEstablished)
        }
        for offset in offsets where offset % 5 == 0 {
            let stall = try await Self.attempt(
                version, WireCut(after: offset, .stall), timeout: .milliseconds(50))
            #expect(stall.error?.isTimeOut(of: "ecdsa.test", .tlsHandshake) == true, "\(offset)")
            #expect(!stall.isEstablished)
        }
    }

    // MARK: chains

    @Test(arguments: [TLSVersion.v1_2, .v1_3])
    func aCertificateLargerThanARecord(_ version: TLSVersion) async throws {
        let serving = try SecureStage.serving(["many-names"]) { $0.maximumVersion = version }
        try await withSecureStack(serving) { client, origin in
            let response = try await client.get(SecureStage.url(origin, host: "n0999.many.test", "/get"))
            #expect(response.status.code == 200)
        }
    }

    /// A chain may be long, up to OpenSSL's limit of 100 KiB.
    @Test(arguments: [TLSVersion.v1_2, .v1_3], [40, 400])
    func manyCertificates(_ version: TLSVersion, _ count: Int) async throws {
        let good = try SecureStage.identity("good")
        let issuer = try #require(good.intermediates.first)
        let longChain = try TLSIdentity(
            certificate: good.certificate, intermediates: Array(repeating: issuer, count: count),
            privateKey: good.privateKey)
        let serving = try SecureStage.serving { tls in
            tls.identities = [TLSServerIdentity(longChain, serverNames: ["good.test"])]
            tls.maximumVersion = version
        }
        try await withSecureStack(serving) { client, origin in
            let url = SecureStage.url(origin, "/get")
            let error = await failure { () throws(TransportError) in
                try await client.get(url).body.collect()
            }
            if count == 40 {
                #expect(error == nil)
            } else {
                #expect(Expected.violation.matches(error, origin), "\(String(describing: error))")
                #expect(origin.received(on: 0).isEmpty)
            }
        }
    }

    @Test(arguments: [TLSVersion.v1_2, .v1_3])
    func aServerWithoutACommonProtocol(_ version: TLSVersion) async throws {
        let serving = try SecureStage.serving {
            $0.applicationProtocols = ["mail"]
            $0.maximumVersion = version
        }
        try await withSecureStack(serving) { client, origin in
            let url = SecureStage.url(origin)
            let error = await failure { () throws(TransportError) in try await client.get(url) }
            #expect(
                error == .tls(host: "good.test", port: origin.port, .alert(.noApplicationProtocol)))
        }
    }
}
