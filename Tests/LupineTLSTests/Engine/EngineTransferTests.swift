// SPDX-License-Identifier: MIT

import CLupineOpenSSL
import LupineTestKit
import Testing

@testable import LupineTLS

/// Tests of plaintext over an established connection, of the end of the connection, and of other messages from the peer.
@Suite struct EngineTransferTests {
    @Test(arguments: TLSVersion.tested, [true, false])
    func tenMebibytesArriveAsTheyWereSent(_ version: TLSVersion, _ fromClient: Bool) throws {
        let manner = WireManner(description: "a socket of 64 KiB", piece: 20_000, capacity: 64 * 1024)
        let pair = try EnginePair.established(version, manner: manner)
        pair.toServer.keepsLog = false
        pair.toClient.keepsLog = false
        var random = SeededRandom(seed: 4)
        let block = (0..<(64 * 1024)).map { _ in UInt8.random(in: 0...255, using: &random) }
        for _ in 0..<160 {
            let received = try pair.transfer(block, fromClient: fromClient)
            try #require(received == block)
        }
    }

    @Test(arguments: TLSVersion.tested, WireManner.all)
    func moreThanARecordThroughEveryWire(_ version: TLSVersion, _ manner: WireManner) throws {
        let pair = try EnginePair.established(version, manner: manner)
        let bytes = (0..<40_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        #expect(try pair.transfer(bytes, fromClient: true) == bytes)
        #expect(try pair.transfer(bytes, fromClient: false) == bytes)
    }

    @Test(arguments: TLSVersion.tested)
    func nothingIsAcceptedWhileOutputIsPending(_ version: TLSVersion) throws {
        let pair = try EnginePair.established(version)
        pair.clientWire.manner = WireManner(description: "full", capacity: 10)
        let bytes = [UInt8](repeating: 7, count: 50_000)
        let accepted = try pair.client.write(bytes.span)
        // The engine accepts one record; the owner keeps the other bytes.
        #expect(accepted == 16_384 && pair.client.hasPendingOutput)
        #expect(try pair.client.write(bytes.span) == 0)
        pair.clientWire.manner = WireManner.all[0]
        try pair.client.flush()
        #expect(!pair.client.hasPendingOutput)
        #expect(try pair.client.write(bytes.span) == bytes.count)
    }

    /// Checks that a closed engine accepts no bytes. This happens to an engine that is the wire of another engine.
    @Test(arguments: TLSVersion.tested)
    func aClosedEngineAcceptsNothing(_ version: TLSVersion) throws {
        let pair = try EnginePair.established(version)
        pair.client.close()
        #expect(throws: TLSError.wireFailed) { try pair.client.write([1, 2, 3].span) }
    }

    /// Checks that the client's last flight is sent with its first write. In TLS 1.3 the client completes the handshake.
    @Test func theLastFlightIsSentWithTheFirstWrite() throws {
        let configuration = TLSConfiguration.test(.v1_3)
        let pair = try EnginePair(configuration)
        while !pair.clientIsDone, pair.clientError == nil {
            pair.stepClient()
            if !pair.clientIsDone { pair.stepServer() }
        }
        let (sends, octets) = (pair.clientWire.sends, pair.toServer.total)
        #expect(!pair.client.hasPendingOutput && !pair.serverIsDone)
        #expect(try pair.client.write([1, 2, 3].span) == 3)
        #expect(pair.clientWire.sends == sends + 1 && pair.toServer.total > octets)
        pair.stepServer()
        #expect(pair.serverIsDone)
        #expect(try pair.read(client: false) == .bytes([1, 2, 3]))
    }

    @Test(arguments: TLSVersion.tested)
    func aBurstOfRecordsIsReadWithOneReceive(_ version: TLSVersion) throws {
        let pair = try EnginePair.established(version)
        for byte in UInt8(0)..<20 { _ = try pair.server.write([byte].span) }
        var expected = Array(UInt8(0)..<20)
        if version == .v1_3, case .bytes(let first) = try pair.read(client: true) {
            expected.removeFirst(first.count)
        }
        if !expected.isEmpty { #expect(try pair.read(client: true) == .bytes(expected)) }
        #expect(!pair.client.hasBufferedInput)
        #expect(try pair.read(client: true) == .wouldBlock)
    }

    @Test(arguments: TLSVersion.tested)
    func onlyCloseNotifyIsAnEnd(_ version: TLSVersion) throws {
        let pair = try EnginePair.established(version)
        _ = try pair.server.write([1, 2, 3].span)
        pair.server.close()
        pair.toClient.isClosed = true
        #expect(try pair.read(client: true) == .bytes([1, 2, 3]))
        #expect(try pair.read(client: true) == .end)
        #expect(try pair.read(client: true) == .end)
        // The other direction is still open (RFC 8446 §6.1).
        #expect(try pair.client.write([4].span) == 1)

        let cut = try EnginePair.established(version)
        _ = try cut.server.write([1, 2, 3].span)
        cut.toClient.isClosed = true
        #expect(try cut.read(client: true) == .bytes([1, 2, 3]))
        #expect(throws: TLSError.truncated) { try cut.read(client: true) }
        #expect(throws: TLSError.truncated) { try cut.read(client: true) }
    }

    @Test(arguments: TLSVersion.tested)
    func aFailedWireIsNoEnd(_ version: TLSVersion) throws {
        let pair = try EnginePair.established(version)
        pair.clientWire.fails = true
        #expect(throws: TLSError.wireFailed) { try pair.client.write([1].span) }
        #expect(throws: TLSError.wireFailed) { try pair.read(client: true) }
    }

    /// Checks that bytes received before can still be read after a write to a closed peer has failed.
    @Test(arguments: TLSVersion.tested)
    func bytesAreReadAfterAFailedWrite(_ version: TLSVersion) throws {
        let pair = try EnginePair.established(version)
        _ = try pair.server.write([9].span)
        pair.client.hasFailedToSend = true
        #expect(throws: TLSError.wireFailed) { try pair.client.write([1].span) }
        #expect(try pair.read(client: true) == .bytes([9]))
    }

    @Test(arguments: TLSVersion.tested)
    func aCorruptedRecordEndsTheConnection(_ version: TLSVersion) throws {
        let pair = try EnginePair.established(version)
        _ = pair.toClient.takeAll()
        // The TLS 1.3 client also misses its tickets; every record has a sequence number.
        _ = try pair.server.write([1, 2, 3].span)
        var record = pair.toClient.takeAll()
        record[record.count - 1] ^= 1
        pair.toClient.put(record)
        #expect {
            try pair.read(client: true)
        } throws: { error in
            guard case .protocolViolation = error as? TLSError else { return false }
            return true
        }
        pair.serverWire.manner = WireManner.all[0]
        #expect(throws: TLSError.alert(.badRecordMAC)) { try pair.read(client: false) }
    }

    /// Checks that the fault of a record is reported although it arrived in one burst with valid ones.
    @Test(arguments: TLSVersion.tested)
    func theEndOfABurstIsReportedAfterItsBytes(_ version: TLSVersion) throws {
        let corrupted = try EnginePair.established(version)
        _ = try corrupted.read(client: true)
        _ = try corrupted.server.write([1].span)
        _ = try corrupted.server.write([2].span)
        var burst = corrupted.toClient.takeAll()
        burst[burst.count - 1] ^= 1
        corrupted.toClient.put(burst)
        #expect(try corrupted.read(client: true) == .bytes([1]))
        #expect(corrupted.client.hasBufferedInput)
        for _ in 0..<2 {
            #expect {
                try corrupted.read(client: true)
            } throws: { error in
                guard case .protocolViolation(let failure) = error as? TLSError else { return false }
                return failure.isSSL(SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC)
            }
        }

        let ended = try EnginePair.established(version)
        _ = try ended.read(client: true)
        _ = try ended.server.write([1].span)
        ended.server.close()
        #expect(try ended.read(client: true) == .bytes([1]))
        #expect(ended.client.hasBufferedInput)
        #expect(try ended.read(client: true) == .end)
        #expect(!ended.client.hasBufferedInput)
    }

    @Test func keysAreUpdated() throws {
        let pair = try EnginePair.established(.v1_3)
        for round in UInt8(0)..<5 {
            #expect(unsafe SSL_key_update(pair.server.connection, SSL_KEY_UPDATE_REQUESTED) == 1)
            #expect(try pair.transfer([round], fromClient: false) == [round])
            #expect(try pair.transfer([round, 1], fromClient: true) == [round, 1])
        }
    }

    @Test func aPeerThatOnlyRequestsKeyUpdatesIsRefused() throws {
        let pair = try EnginePair.established(.v1_3)
        pair.clientWire.manner = WireManner(description: "full", capacity: 0)
        var error: TLSError?
        for _ in 0..<20_000 where error == nil {
            unsafe _ = SSL_key_update(pair.server.connection, SSL_KEY_UPDATE_REQUESTED)
            unsafe _ = SSL_do_handshake(pair.server.connection)
            do throws(TLSError) { _ = try pair.read(client: true) } catch let caught { error = caught }
        }
        guard case .answersNotRead = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func aPeerThatSendsNoDataIsRefused() throws {
        let pair = try EnginePair.established(.v1_3)
        for _ in 0..<20_000 {
            unsafe _ = SSL_key_update(pair.server.connection, SSL_KEY_UPDATE_NOT_REQUESTED)
            unsafe _ = SSL_do_handshake(pair.server.connection)
        }
        #expect {
            try pair.read(client: true)
        } throws: { error in
            guard case .tooManyMessages = error as? TLSError else { return false }
            return true
        }
    }

    /// Checks that other alerts, such as the client's own close_notify, do not count as refusals.
    @Test(arguments: TLSVersion.tested) func closeNotifyIsNoRefusalOfRenegotiation(_ version: TLSVersion)
        throws
    {
        let pair = try EnginePair.established(version)
        pair.client.closeWriting()
        #expect(!pair.client.hasRefusedRenegotiation)
        #expect(try pair.read(client: false) == .end)
        pair.server.closeForWriting()
        #expect(try pair.read(client: true) == .end)
        #expect(!pair.client.hasRefusedRenegotiation && !pair.server.hasRefusedRenegotiation)
    }

    /// Checks that the answer to HelloRequest is a warning and the connection goes on (RFC 5246 §7.4.1.1).
    @Test("[H-14.2] a server that wants to negotiate anew hears no, and is spoken to all the same")
    func renegotiationIsRefused() throws {
        let pair = try EnginePair.established(.v1_2)
        unsafe _ = SSL_clear_options(pair.server.connection, lupine_SSL_OP_NO_RENEGOTIATION())
        #expect(unsafe SSL_renegotiate(pair.server.connection) == 1)
        unsafe _ = SSL_do_handshake(pair.server.connection)
        #expect(!pair.client.hasRefusedRenegotiation)
        #expect(try pair.read(client: true) == .wouldBlock)
        #expect(pair.client.hasRefusedRenegotiation)
        #expect(try pair.client.write([5].span) == 1)
        #expect(throws: TLSError.renegotiation) {
            for _ in 0..<3 { _ = try pair.read(client: false) }
        }
    }
}
