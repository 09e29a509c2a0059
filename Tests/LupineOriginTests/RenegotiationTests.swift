// SPDX-License-Identifier: MIT

import LupineOrigin
import LupineTLS
import LupineTestKit
import Testing

/// Tests of clients that start a renegotiation of TLS 1.2 (RFC 9113 §9.2.1). Such a client cannot read the answer, so the tests
/// identify its records by type and length.
@Suite struct RenegotiationTests {
    /// A record by its type and the length of its content. The 16 octets that encryption adds are not counted.
    private struct Record: Equatable {
        static let alert = Record(kind: 21, count: 2)

        let kind: UInt8
        let count: Int

        static func content(_ count: Int) -> Record { Record(kind: 23, count: count) }
    }

    /// Divides received octets into records.
    private final class Records {
        private let client: RawClient
        private var octets: [UInt8] = []

        init(_ client: RawClient) { self.client = client }

        /// Returns the next record; nil at the end of the connection.
        func next() throws -> Record? {
            while true {
                if octets.count >= 5 {
                    let count = Int(octets[3]) << 8 | Int(octets[4])
                    if octets.count >= 5 + count {
                        defer { octets.removeFirst(5 + count) }
                        return Record(kind: octets[0], count: count - 16)
                    }
                }
                let piece = try client.receiveBeneathTLS()
                if piece.isEmpty {
                    #expect(octets.isEmpty)
                    return nil
                }
                octets += piece
            }
        }
    }

    /// Calls `body` with an origin and a client that have negotiated TLS 1.2, a cipher suite without an explicit nonce in each
    /// record, and the protocol `name`.
    private func withClient(
        speaking name: String, _ body: (RawClient, Origin) async throws -> Void
    ) async throws {
        var serving = try SecureOrigin.configuration(["rsa"]) {
            $0.maximumVersion = .v1_2
            $0.cipherList = "ECDHE-RSA-CHACHA20-POLY1305"
            $0.applicationProtocols = [name]
        }
        serving.http2 = HTTP2Behaviour()
        var configuration = TLSConfiguration(roots: TrustRoots(includesSystem: false))
        configuration.applicationProtocols = [name]
        try await withSecureClient(serving, SecureOrigin.client(configuration), body)
    }

    /// Reads frames up to one of that type with these flags.
    private func receive(_ type: UInt8, _ flags: UInt8, _ client: RawClient) throws {
        while true {
            let head = try client.receive(exactly: 9)
            _ = try client.receive(exactly: Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2]))
            if head[3] == type, head[4] == flags { return }
        }
    }

    @Test("[H-14.2] over HTTP/2 a client that asks is refused, and its connection ends with GOAWAY")
    func overHTTP2() async throws {
        try await withClient(speaking: "h2") { client, _ in
            try client.send(Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0])
            // The acknowledgement of SETTINGS is the last frame that the origin has to send.
            try receive(4, 1, client)
            try client.requestRenegotiation()
            let records = Records(client)
            // no_renegotiation, GOAWAY, close_notify.
            #expect(try records.next() == .alert)
            #expect(try records.next() == .content(9 + 8))
            #expect(try records.next() == .alert)
            #expect(try records.next() == nil)
        }
    }

    @Test("[H-14.2] over HTTP/1.1 a client that asks is refused, and answered all the same")
    func overHTTP1() async throws {
        try await withClient(speaking: "http/1.1") { client, origin in
            let gate = origin.gate("go")
            origin.route("GET", "/held") { _ throws(Refusal) in
                var response = OriginResponse(204)
                response.gate = gate
                return response
            }
            try client.send("GET /held HTTP/1.1\r\nHost: test\r\n\r\n")
            try client.requestRenegotiation()
            let records = Records(client)
            #expect(try records.next() == .alert)
            gate.open()
            let answer = try #require(try records.next())
            #expect(answer.kind == 23 && answer.count > 17)
        }
    }
}
