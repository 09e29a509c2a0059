// SPDX-License-Identifier: MIT

import LupineOrigin
import LupineTLS
import LupineTestKit
import Testing

/// Tests of client certificates, of clients that refuse the origin, and of input that is not TLS.
@Suite struct TLSRefusalTests {
    enum Asking: Sendable { case none, requested, required }

    struct Row: CustomTestStringConvertible {
        let asking: Asking
        let identity: String?
        let isIn: Bool
        var testDescription: String { "\(asking), \(identity ?? "no certificate")" }
    }

    private static let rows = [
        Row(asking: .none, identity: nil, isIn: true),
        Row(asking: .none, identity: "client-rsa", isIn: true),
        Row(asking: .requested, identity: nil, isIn: true),
        Row(asking: .requested, identity: "client-rsa", isIn: true),
        Row(asking: .requested, identity: "client-ecdsa", isIn: true),
        Row(asking: .requested, identity: "client-untrusted", isIn: false),
        Row(asking: .required, identity: nil, isIn: false),
        Row(asking: .required, identity: "client-rsa", isIn: true),
        Row(asking: .required, identity: "client-ecdsa", isIn: true),
        Row(asking: .required, identity: "client-untrusted", isIn: false),
    ]

    @Test(arguments: rows, [TLSVersion.v1_2, .v1_3])
    func clientCertificates(_ row: Row, _ version: TLSVersion) async throws {
        let roots = [try SecureOrigin.certificate("client-root")]
        let configuration = try SecureOrigin.configuration { tls in
            switch row.asking {
            case .none: tls.clientCertificates = .none
            case .requested: tls.clientCertificates = .requested(roots: roots)
            case .required: tls.clientCertificates = .required(roots: roots)
            }
        }
        let context = try SecureOrigin.client(
            TLSConfiguration(
                minimumVersion: version, maximumVersion: version, roots: TrustRoots(includesSystem: false),
                identity: row.identity.map { try SecureOrigin.identity($0) }))
        try await withOrigin(configuration) { origin in
            let client = try RawClient(port: origin.port)
            let expected =
                try row.asking == .none ? nil : row.identity.map { try SecureOrigin.certificate($0) }
            if row.isIn {
                try client.startTLS(context, host: "good.test")
                let text = try client.get("/tls").text
                let handshake = try #require(await origin.handshake(on: 0))
                #expect(handshake.failure == nil)
                #expect(handshake.clientCertificates.first == expected)
                #expect(text.contains("\"client-certificate\": null") == (expected == nil))
                if let expected { #expect(text.contains("\"subject\": \"\(expected.subject)\"")) }
            } else {
                // In TLS 1.3 the client learns of the refusal after its own handshake has ended.
                #expect(throws: TLSError.self) {
                    try client.startTLS(context, host: "good.test")
                    _ = try client.get("/tls")
                }
                let handshake = try #require(await origin.handshake(on: 0))
                #expect(handshake.failure != nil)
                #expect(origin.counts.requests == 0)
                #expect(origin.received(on: 0) == [])
            }
        }
    }

    @Test(arguments: [TLSVersion.v1_2, .v1_3])
    func whoIsRefusedGetsNoByteAndNoCertificate(_ version: TLSVersion) async throws {
        let roots = [try SecureOrigin.certificate("client-root")]
        let configuration = try SecureOrigin.configuration { $0.clientCertificates = .required(roots: roots) }
        let context = try SecureOrigin.client(
            TLSConfiguration(
                minimumVersion: version, maximumVersion: version, roots: TrustRoots(includesSystem: false),
                identity: SecureOrigin.identity("client-rsa")))
        try await withOrigin(configuration) { origin in
            let client = try RawClient(port: origin.port)
            #expect(throws: TLSError.untrusted(.refused("no"))) {
                try client.startTLS(context, host: "good.test") { _ in .failure(.refused("no")) }
            }
            let handshake = try #require(await origin.handshake(on: 0))
            guard case .alert = handshake.failure else {
                return #expect(Bool(false), "\(String(describing: handshake.failure))")
            }
            #expect(handshake.clientCertificates == [])
            #expect(handshake.wireBytes < 700, "a ClientHello and an alert; a certificate would be more")
            #expect(origin.received(on: 0) == [])
            #expect(origin.counts.handshakesFailed == 1)
        }
    }

    @Test(arguments: [
        ("a request in the clear", "GET / HTTP/1.1\r\nHost: a\r\n\r\n"),
        ("noise", "\u{0}\u{1}noise noise noise"),
        ("a record of nothing", "\u{16}\u{3}\u{1}\u{0}\u{0}"),
        ("an alert", "\u{15}\u{3}\u{1}\u{0}\u{2}\u{2}\u{28}"),
    ])
    func whatIsNoTLS(_ shows: String, _ text: String) async throws {
        try await withOrigin(SecureOrigin.configuration()) { origin in
            let client = try RawClient(port: origin.port)
            try client.send(text)
            client.closeOurHalf()
            _ = try client.receiveAll()
            let handshake = try #require(await origin.handshake(on: 0))
            #expect(handshake.failure != nil)
            #expect(1...text.utf8.count ~= handshake.wireBytes)
            #expect(origin.received(on: 0) == [])
        }
    }

    @Test func theAlertIsThereBehindInputThatNobodyReads() async throws {
        try await withOrigin(SecureOrigin.configuration()) { origin in
            let client = try RawClient(port: origin.port)
            // A handshake message of an unknown type, and much more.
            try client.send([22, 3, 1, 0, 4, 99, 0, 0, 0] + [UInt8](repeating: 0, count: 300_000))
            let answer = try client.receiveAll()
            #expect(answer.first == 21, "an alert, and no reset")
            client.closeOurHalf()
        }
    }

    @Test(arguments: [TLSVersion.v1_2, .v1_3])
    func aClientHelloInPieces(_ version: TLSVersion) async throws {
        try await withOrigin(SecureOrigin.configuration()) { origin in
            let context = try SecureOrigin.client(version)
            for piece in [1, 5, 77] {
                let client = try RawClient(port: origin.port)
                client.setPieceSize(piece)
                try client.startTLS(context, host: "good.test")
                let response = try client.get("/get")
                #expect(response.status == 200)
            }
            #expect(origin.counts.handshakesCompleted == 3)
        }
    }

    @Test func aShutdownInMidHandshake() async throws {
        let origin = try Origin.start(configuration: SecureOrigin.configuration())
        let silent = try RawClient(port: origin.port)
        let begun = try RawClient(port: origin.port)
        try begun.send([22, 3, 1, 2, 0, 1, 0])
        let established = try RawClient(port: origin.port)
        try established.startTLS(SecureOrigin.client(), host: "good.test")
        #expect(try established.get("/get").status == 200)
        #expect(origin.counts.connectionsOpen == 3)
        await origin.shutdown()
        #expect(try silent.receiveAll() == [])
        #expect(try established.receiveAll() == [], "ended with close_notify")
        #expect(origin.counts.connectionsOpen == 0)
        #expect(origin.counts.handshakesFailed == 2)
        #expect(origin.handshakes(on: 0).map(\.failure) == [.closedInHandshake])
    }

    @Test func aHandshakeThatDoesNotGoOnIsNotWaitedForForEver() async throws {
        var configuration = try SecureOrigin.configuration()
        configuration.idleTimeout = .milliseconds(20)
        // The idle time-out does not apply to a script that stalls, but it does to a handshake.
        configuration.script = ScriptPlan(.stall)
        try await withOrigin(configuration) { origin in
            let client = try RawClient(port: origin.port)
            #expect(try client.receiveAll() == [])
            let handshake = try #require(await origin.handshake(on: 0))
            #expect(handshake.failure == .closedInHandshake)
        }
    }
}
