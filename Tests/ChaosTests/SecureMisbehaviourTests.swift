// SPDX-License-Identifier: MIT

import LupineTLS
import Testing

@testable import LupineChaos
@testable import LupineTestKit

/// Checks that each misbehaviour of TLS does what it claims, with a raw client.
struct SecureMisbehaviourTests {
    /// The end of a raw client's exchange.
    private enum End: Hashable {
        case whole, early, truncated, reset, failed, handshakeFailed
    }

    private static func withOrigin(_ body: (ChaosDoors) throws -> Void) async throws {
        let origin = try ChaosOrigin(loops: 1)
        let result = Result { try body(origin.doors) }
        await origin.shutdown()
        try result.get()
    }

    private static func client() throws -> TLSClientContext {
        try TLSClientContext(
            TLSConfiguration(applicationProtocols: ["http/1.1"], roots: TrustRoots(includesSystem: false)))
    }

    private static func end(_ misbehaviour: Misbehaviour, _ doors: ChaosDoors) throws -> End {
        let trial = ChaosTrial(
            seed: 5, number: 6, attempt: 0, misbehaviour: misbehaviour, form: .text, size: 3_000,
            uploadSize: 0)
        let client = try RawClient(port: try #require(doors[misbehaviour.door ?? .main, secure: true]))
        // The handshake throws if the origin alerts, resets or ends in it.
        do { try client.startTLS(Self.client(), host: "localhost") } catch { return .handshakeFailed }
        var heard: [UInt8] = []
        do {
            try client.send("GET \(trial.target) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            while true {
                let piece = try client.receive()
                if piece.isEmpty { break }
                heard += piece
                // Only silence would follow.
                if misbehaviour == .stallInRecord || misbehaviour == .keyUpdate { client.closeOurHalf() }
            }
        } catch TLSError.truncated {
            return heard.suffix(trial.content.count).elementsEqual(trial.content) ? .whole : .truncated
        } catch RawClient.Failure.system(104) {
            return .reset
        } catch { return .failed }
        return heard.suffix(trial.content.count).elementsEqual(trial.content) ? .whole : .early
    }

    @Test("what happens behind a handshake is what was asked for")
    func content() async throws {
        try await Self.withOrigin { doors in
            let rows: [(Misbehaviour, Set<End>)] = [
                (.closeAfter, [.whole]), (.oldVersion, [.whole]), (.keyUpdate, [.whole]),
                (.noNotifyBehindContent, [.whole]), (.noNotifyInContent, [.truncated]),
                (.notifyInContent, [.early]), (.noiseInContent, [.failed]), (.alertInContent, [.failed]),
                (.stallInRecord, [.truncated]), (.cutInRecord, [.truncated]), (.resetInRecord, [.reset]),
                (.alertInHandshake, [.handshakeFailed]), (.resetInHandshake, [.handshakeFailed]),
                (.cutInHandshake, [.handshakeFailed]),
            ]
            for (misbehaviour, ends) in rows {
                let end = try Self.end(misbehaviour, doors)
                #expect(ends.contains(end), "\(misbehaviour): \(end)")
            }
        }
    }

    @Test("each door shows the certificate that it is named after, and one shows three in turn")
    func certificates() async throws {
        try await Self.withOrigin { doors in
            func shown(_ door: ChaosDoor) throws -> [UInt8] {
                let client = try RawClient(port: try #require(doors[door, secure: true]))
                var leaf: [UInt8] = []
                try client.startTLS(Self.client(), host: "localhost") { peer in
                    leaf = peer.certificates.first?.der ?? []
                    return .success(())
                }
                return leaf
            }
            func file(_ name: String) throws -> [UInt8] {
                try #require(Certificate.pem(PKI.bytes("\(name).pem")).first).der
            }
            #expect(try shown(.main) == file("ecdsa"))
            #expect(try shown(.expired) == file("expired"))
            #expect(try shown(.foreign) == file("wrong-host"))
            #expect(try shown(.untrusted) == file("untrusted"))
            let turns = try (0..<4).map { _ in try shown(.turning) }
            let expected = try ["ecdsa", "renewed-other-key", "expired", "ecdsa"].map(file)
            #expect(turns == expected)
        }
    }

    @Test("the old door speaks TLS 1.2")
    func version() async throws {
        try await Self.withOrigin { doors in
            let client = try RawClient(port: try #require(doors[.old, secure: true]))
            try client.startTLS(Self.client(), host: "localhost")
            #expect(client.engine?.info.version == .v1_2)
        }
    }

    @Test("a handshake that stalls says something, and then nothing")
    func stall() async throws {
        try await Self.withOrigin { doors in
            let port = try #require(doors[.stallingHandshake, secure: true])
            for cut in 0..<3 {
                let client = try RawClient(port: port)
                try client.send(try Self.hello())
                let heard = try client.receive(exactly: 1 + (cut * 37) % 900)
                #expect(heard.first == 22)
                client.closeOurHalf()
                #expect(try client.receiveAll().isEmpty)
            }
        }
    }

    /// Returns the ClientHello.
    private static func hello() throws -> [UInt8] {
        var sent: [UInt8] = []
        let layer = try RawTLS(
            client(), host: "localhost", resuming: nil, receive: { _ in [] }, send: { sent += $0 })
        try? layer.handshake { _ in .success(()) }
        return sent
    }
}
