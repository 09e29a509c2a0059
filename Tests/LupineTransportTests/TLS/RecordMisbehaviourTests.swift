// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineOrigin
import LupineTLS
import Testing

@testable import LupineTransport

/// Servers that misbehave after the handshake, in the middle of a response: the expected error, once, or the complete content.
@Suite(.timeLimit(.minutes(10))) struct RecordMisbehaviourTests {
    enum Framing: String, CaseIterable, Sendable {
        case length, chunked, untilClose

        /// A head and the first three bytes of content.
        var beginning: String {
            switch self {
            case .length: "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"
            case .chunked: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\nabc"
            case .untilClose: "HTTP/1.1 200 OK\r\n\r\nabc"
            }
        }

        /// The remaining content.
        var remainder: String {
            switch self {
            case .length: "defghij"
            case .chunked: "defgh\r\n2\r\nij\r\n0\r\n\r\n"
            case .untilClose: "defghij"
            }
        }

        /// Returns the error for a stream that ends after `beginning`; nil if that is a complete response.
        func truncation(at port: UInt16) -> TransportError? {
            switch self {
            case .length:
                .http(host: "good.test", port: port, .truncated(.insideBody(received: 3, expected: 10)))
            case .chunked: .http(host: "good.test", port: port, .truncated(.insideChunk(received: 3)))
            case .untilClose: nil
            }
        }
    }

    /// An end of the stream in the middle of the content.
    enum Ending: CaseIterable, Sendable {
        case closeNotify, closeNotifyAndMore, end, halfARecord, reset

        var steps: [Script.Step] {
            switch self {
            case .closeNotify: [.close]
            case .closeNotifyAndMore:
                [.sendCloseNotify, .sendBeneathTLS([23, 3, 3, 0, 2, 1, 2]), .expectEnd]
            case .end: [.closeWithoutNotify]
            case .halfARecord: [.cutWire(WireCut(after: 12, .end)), .send("defghij"), .stall]
            case .reset: [.reset]
            }
        }
    }

    private static func serving(
        _ version: TLSVersion, _ steps: [Script.Step]
    ) throws -> OriginConfiguration {
        try SecureStage.serving(["good"], ScriptPlan([Script(steps)])) { $0.maximumVersion = version }
    }

    /// Sends one request; returns its content or error, and the origin's port.
    private static func send(
        _ version: TLSVersion, _ steps: [Script.Step]
    ) async throws -> (text: String?, error: TransportError?, port: UInt16) {
        try await withSecureStack(serving(version, steps)) { client, origin in
            var result: (text: String?, error: TransportError?, port: UInt16) = (nil, nil, origin.port)
            do throws(TransportError) {
                result.text = try await client.get(SecureStage.url(origin)).body.text()
            } catch { result.error = error }
            #expect(origin.counts.connectionsAccepted == 1)
            await client.shutdown()
            await origin.waitUntilEmpty()
            return result
        }
    }

    @Test(arguments: [TLSVersion.v1_2, .v1_3], Framing.allCases)
    func endsInTheMiddle(_ version: TLSVersion, _ framing: Framing) async throws {
        for ending in Ending.allCases {
            let result = try await Self.send(version, [.expectHead, .send(framing.beginning)] + ending.steps)
            let expected: TransportError?
            switch ending {
            case .closeNotify, .closeNotifyAndMore: expected = framing.truncation(at: result.port)
            // Without close_notify, an attacker may have cut the stream.
            case .end, .halfARecord:
                expected =
                    framing.truncation(at: result.port)
                    ?? .tls(host: "good.test", port: result.port, .truncated)
            case .reset: expected = .connectionLost(host: "good.test", port: result.port, .connectionReset)
            }
            #expect(result.error == expected, "\(ending)")
            #expect(result.text == (expected == nil ? "abc" : nil), "\(ending)")
        }
    }

    /// Bytes that are inserted between the records.
    static let forgedRecords: [(name: String, bytes: [UInt8])] = [
        ("a record longer than allowed", [23, 3, 3, 0x48, 0x01] + [UInt8](repeating: 1, count: 0x4801)),
        ("a record of noise", [23, 3, 3, 0, 40] + [UInt8](repeating: 9, count: 40)),
        ("a record that is too short", [23, 3, 3, 0, 1, 0]),
        ("a record without content", [23, 3, 3, 0, 0]),
        ("an unencrypted alert", [21, 3, 3, 0, 2, 2, 80]),
        ("an unencrypted close_notify", [21, 3, 3, 0, 2, 1, 0]),
        ("an unencrypted handshake message", [22, 3, 3, 0, 4, 0, 0, 0, 0]),
        ("plain text", Array("HTTP/1.1 200 OK\r\n\r\n".utf8)),
    ]

    @Test(arguments: [TLSVersion.v1_2, .v1_3], forgedRecords.indices)
    func forgeriesBetweenTheRecords(_ version: TLSVersion, _ row: Int) async throws {
        for framing in Framing.allCases {
            let result = try await Self.send(
                version,
                [
                    .expectHead, .send(framing.beginning), .sendBeneathTLS(Self.forgedRecords[row].bytes),
                    .send(framing.remainder), .close,
                ])
            guard case .tls("good.test", result.port, .protocolViolation) = result.error else {
                Issue.record("\(Self.forgedRecords[row].name), \(framing): \(result)")
                continue
            }
        }
    }

    @Test(arguments: Framing.allCases) func aKeyUpdateBeforeEachByte(_ framing: Framing) async throws {
        var steps: [Script.Step] = [.expectHead]
        for byte in (framing.beginning + framing.remainder).utf8 {
            steps += [.updateKeys(both: true), .send([byte])]
        }
        // The server does not read the client's answers: closing the socket would reset the connection.
        let result = try await Self.send(.v1_3, steps + [.sendCloseNotify, .expectEnd])
        #expect(result.text == "abcdefghij", "\(result)")
    }

    /// A few key updates without content in between are harmless.
    @Test func keyUpdatesWithoutContent() async throws {
        let keys = Array(repeating: Script.Step.updateKeys(both: false), count: 20)
        let result = try await Self.send(
            .v1_3,
            [.expectHead, .send(Framing.length.beginning)] + keys + [.send(Framing.length.remainder)] + keys
                + [.close])
        #expect(result.text == "abcdefghij")
    }

    /// A flood of key updates may end the connection, before or after the rest of the content.
    @Test func aFloodOfKeyUpdates() async throws {
        let keys = Array(repeating: Script.Step.updateKeys(both: false), count: 20_000)
        let result = try await Self.send(
            .v1_3,
            [.expectHead, .send(Framing.length.beginning)] + keys + [.send(Framing.length.remainder), .close])
        if result.text == nil {
            guard case .tls("good.test", result.port, .tooManyMessages) = result.error else {
                Issue.record("\(result)")
                return
            }
        } else {
            #expect(result.text == "abcdefghij")
        }
    }

    /// The server does not read the client's answer: only the client's own rule ends the connection.
    @Test(
        "[H-14.2] over HTTP/2 a request for renegotiation ends the connection", arguments: [false, true])
    func renegotiationOverHTTP2(_ isAnswered: Bool) async throws {
        let frames = ServerFrames()
        let answer = frames.head(1, "200", [("content-length", "10")]).data(1, "abc")
        let plan = ScriptPlan([
            Script([.expectRequest(1), .send(isAnswered ? answer : frames), .requestRenegotiation, .stall])
        ])
        let serving = try SecureStage.serving(["good"], plan) {
            $0.applicationProtocols = ["h2"]
            $0.maximumVersion = .v1_2
        }
        try await withSecureStack(serving, settings: .with { $0.versions = .http2 }) { client, origin in
            let error = await failure { () throws(TransportError) in
                try await client.get(SecureStage.url(origin)).body.collect()
            }
            #expect(error == .tls(host: "good.test", port: origin.port, .renegotiation))
            #expect(origin.counts.connectionsAccepted == 1)
        }
    }

    /// The server asks in the middle of a response. The client refuses; what the server does then does not matter.
    @Test(arguments: Framing.allCases) func renegotiation(_ framing: Framing) async throws {
        let result = try await Self.send(
            .v1_2,
            [.expectHead, .send(framing.beginning), .requestRenegotiation, .expectEnd])
        #expect(result.text == nil)
        #expect(result.error == .tls(host: "good.test", port: result.port, .renegotiation), "\(framing)")
    }
}
