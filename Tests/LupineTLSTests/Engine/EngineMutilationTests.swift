// SPDX-License-Identifier: MIT

import LupineTestKit
import Testing

@testable import LupineTLS

/// Tests that a handshake that is truncated or corrupted at any offset ends in an error, never in a connection or a crash.
@Suite struct EngineMutilationTests {
    /// Returns the bytes that each side sends in an undisturbed handshake.
    private func transcript(_ version: TLSVersion) throws -> (toServer: [UInt8], toClient: [UInt8]) {
        let pair = try EnginePair(.test(version))
        pair.runHandshakes()
        try #require(pair.clientIsDone && pair.serverIsDone)
        return (pair.toServer.log, pair.toClient.log)
    }

    @Test(arguments: TLSVersion.tested)
    func aTruncatedFlightIsRefused(_ version: TLSVersion) throws {
        let context = try TLSClientContext(.test(version))
        let server = try TLSServerContext(try .test())
        let length = try transcript(version).toClient.count
        for cut in stride(from: 0, to: length, by: 97) {
            let pair = try EnginePair(client: context, server: server)
            _ = try pair.client.handshake()
            pair.stepServer()
            let flight = pair.toClient.takeAll()
            guard cut < flight.count else { break }
            pair.toClient.put(Array(flight[..<cut]))
            pair.toClient.isClosed = true
            for _ in 0..<3 where pair.clientError == nil { pair.stepClient() }
            #expect(pair.clientError == .closedInHandshake, "cut at \(cut)")
        }
    }

    @Test(arguments: TLSVersion.tested)
    func aCorruptedByteIsNoticed(_ version: TLSVersion) throws {
        let context = try TLSClientContext(.test(version))
        let server = try TLSServerContext(try .test())
        var random = SeededRandom(seed: 17)
        for offset in stride(from: 0, to: 4000, by: 13) {
            let pair = try EnginePair(client: context, server: server)
            _ = try pair.client.handshake()
            pair.stepServer()
            var flight = pair.toClient.takeAll()
            guard offset < flight.count else { break }
            flight[offset] ^= UInt8.random(in: 1...255, using: &random)
            pair.toClient.put(flight)
            pair.runHandshakes()
            // The pair does not verify the chain, so a corrupted byte in it is noticed only later in the handshake.
            let isEstablished = pair.clientIsDone && pair.serverIsDone
            #expect(!isEstablished, "offset \(offset)")
        }
    }

    @Test(arguments: TLSVersion.tested)
    func garbageAfterEachStep(_ version: TLSVersion) throws {
        let context = try TLSClientContext(.test(version))
        let server = try TLSServerContext(try .test())
        let garbage: [[UInt8]] = [
            Array("HTTP/1.1 200 OK\r\n\r\n".utf8), [22, 3, 3, 0xFF, 0xFF], [23, 3, 3, 0, 1, 0],
            [20, 3, 3, 0, 1, 1],
            [22, 3, 3, 0, 4, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0],
            [24, 3, 3, 0, 3, 1, 0x40, 0],
        ]
        for bytes in garbage {
            for step in 0..<3 {
                let pair = try EnginePair(client: context, server: server)
                for _ in 0..<step {
                    pair.stepClient()
                    pair.stepServer()
                }
                pair.toClient.put(bytes)
                pair.toServer.put(bytes)
                pair.runHandshakes()
                for isClient in [true, false] {
                    guard isClient ? pair.clientIsDone : pair.serverIsDone else { continue }
                    while case .bytes = try? pair.read(client: isClient) {
                        Issue.record("data out of garbage \(bytes) at step \(step)")
                    }
                }
            }
        }
    }

    @Test func randomBytesInsteadOfAServer() throws {
        let context = try TLSClientContext(.test)
        var random = SeededRandom(seed: 23)
        let server = try TLSServerContext(try .test())
        for _ in 0..<300 {
            let pair = try EnginePair(client: context, server: server)
            let randomBytes = (0..<Int.random(in: 1...600, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            _ = try pair.client.handshake()
            // A plausible header, so that the contents are parsed.
            pair.toClient.put(
                [22, 3, 3, UInt8(randomBytes.count >> 8), UInt8(randomBytes.count & 255), 2] + randomBytes)
            pair.toClient.isClosed = true
            for _ in 0..<3 where pair.clientError == nil { pair.stepClient() }
            #expect(pair.clientError != nil && pair.trustRequests.isEmpty)
        }
    }
}
