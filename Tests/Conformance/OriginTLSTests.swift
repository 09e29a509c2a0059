// SPDX-License-Identifier: MIT

import LupineOrigin
import LupineTLS
import LupineTestKit
import Testing

/// The origin over TLS, tested with OpenSSL's own client, which shares no code with the engine.
@Suite struct OriginTLSTests {
    struct Row: CustomTestStringConvertible {
        let shows: String
        var server: @Sendable (inout TLSServerConfiguration) throws -> Void = { _ in }
        let arguments: [String]
        var status: Int32 = 0
        var testDescription: String { shows }
    }

    private static let rows = [
        Row(shows: "a chain that is trusted, TLS 1.3", arguments: ["-tls1_3"]),
        Row(shows: "a chain that is trusted, TLS 1.2", arguments: ["-tls1_2"]),
        Row(shows: "the protocol and the stapled answer", arguments: ["-alpn", "http/1.1", "-status"]),
        Row(shows: "no common protocol", arguments: ["-alpn", "other"], status: 1),
        Row(
            shows: "no common version", server: { $0.minimumVersion = .v1_3 }, arguments: ["-tls1_2"],
            status: 1),
        Row(
            shows: "a client certificate",
            server: { $0.clientCertificates = .required(roots: [try certificate("client-root")]) },
            arguments: ["-cert", PKI.path("client-rsa.pem"), "-key", PKI.path("client-rsa.key")]),
        Row(
            shows: "no client certificate",
            server: { $0.clientCertificates = .required(roots: [try certificate("client-root")]) },
            arguments: ["-tls1_2"], status: 1),
        Row(
            shows: "an alert for everybody", server: { $0.refusalAlert = .internalError }, arguments: [],
            status: 1),
    ]

    private static func certificate(_ name: String) throws -> Certificate {
        try Certificate.pem(PKI.bytes("\(name).pem"))[0]
    }

    @Test(arguments: rows) func asOpenSSLSeesIt(_ row: Row) async throws {
        let identity = try TLSIdentity(
            pemChain: PKI.bytes("good-ocsp-chain.pem"), pemKey: PKI.bytes("good-ocsp.key"))
        let staple = try PKI.bytes("ocsp/good.der")
        var tls = TLSServerConfiguration(identities: [TLSServerIdentity(identity, stapledResponse: staple)])
        try row.server(&tls)
        var configuration = OriginConfiguration()
        configuration.tls = tls
        // The origin ends the connection; the client's input stays open.
        configuration.script = ScriptPlan(.send("HTTP/1.1 200 OK\r\n\r\n"), .close)
        let origin = try Origin.start(configuration: configuration)
        let end = try await Program.run(
            "sh",
            [
                "-c", "exec openssl s_client \"$@\" </dev/null >/dev/null 2>&1", "s_client", "-connect",
                "127.0.0.1:\(origin.port)", "-servername", "good-ocsp.test", "-verify_hostname",
                "good-ocsp.test", "-CAfile", PKI.path("root.pem"), "-verify_return_error", "-ign_eof",
            ] + row.arguments)
        #expect(end == .exited(row.status))
        let handshake = try #require(await origin.handshake(on: 0))
        #expect((handshake.failure == nil) == (row.status == 0))
        await origin.shutdown()
    }
}
