// SPDX-License-Identifier: MIT

import CLupineOpenSSL
import LupineTestKit
import Testing

@testable import LupineTLS

/// Tests of reads whose buffer has room for many of the records that have already arrived.
@Suite struct EngineBurstTests {
    private static let wide = 256 * 1024

    /// Returns a connected pair whose client's wire reports queued bytes. The client has read the server's tickets.
    private func established(
        _ version: TLSVersion, manner: WireManner = WireManner.all[0]
    ) throws -> EnginePair {
        let pair = try EnginePair.established(version, manner: manner)
        pair.clientWire.reportsQueuedBytes = true
        // The tickets of TLS 1.3.
        _ = try pair.read(client: true)
        return pair
    }

    private static func pattern(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
    }

    /// Reads once as the client, with room for that many bytes.
    private func read(_ pair: EnginePair, room: Int) throws(TLSError) -> EnginePair.ReadResult {
        var buffer = [UInt8](repeating: 0, count: room)
        var span = buffer.mutableSpan
        switch try pair.client.read(into: &span) {
        case .bytes(let count): return .bytes(Array(buffer[..<count]))
        case .wouldBlock: return .wouldBlock
        case .end: return .end
        }
    }

    @Test(arguments: TLSVersion.tested, [1, 16_383, 16_384, 40_000, 100_000, wide])
    func theReaderIsFilled(_ version: TLSVersion, _ room: Int) throws {
        let pair = try established(version)
        let bytes = Self.pattern(150_000)
        #expect(try pair.server.write(bytes.span) == bytes.count)
        #expect(try read(pair, room: room) == .bytes(Array(bytes.prefix(room))))
        var remainder: [UInt8] = []
        while case .bytes(let more) = try read(pair, room: Self.wide) { remainder += more }
        let isWhole = remainder == Array(bytes.dropFirst(room))
        #expect(isWhole)
        #expect(!pair.client.hasBufferedInput)
    }

    /// Checks that no wire loses, repeats or reorders bytes if the reader's buffer ends in the middle of records.
    @Test(arguments: TLSVersion.tested, WireManner.all)
    func everyWireGivesTheSame(_ version: TLSVersion, _ manner: WireManner) throws {
        let pair = try established(version, manner: manner)
        let bytes = Self.pattern(40_000)
        var received: [UInt8] = []
        var sent = 0
        var rooms = [30_000, 5, 16_390, 20_000]
        // Enough turns for the slowest wire, which moves seven bytes in every other one.
        for _ in 0..<20_000 where received.count < bytes.count {
            try pair.server.flush()
            sent += try pair.server.write(bytes.span.extracting(sent...))
            rooms.append(rooms.removeFirst())
            if case .bytes(let more) = try read(pair, room: rooms[0]) { received += more }
        }
        let isWhole = received == bytes
        #expect(isWhole)
    }

    @Test(arguments: TLSVersion.tested) func closeNotifyAfterABurst(_ version: TLSVersion) throws {
        let pair = try established(version)
        let bytes = Self.pattern(80_000)
        _ = try pair.server.write(bytes.span)
        pair.server.close()
        pair.toClient.isClosed = true
        #expect(try read(pair, room: Self.wide) == .bytes(bytes))
        #expect(pair.client.hasBufferedInput)
        for _ in 0..<2 { #expect(try read(pair, room: Self.wide) == .end) }
    }

    /// Checks that the complete records of a truncated burst are delivered before the truncation is reported.
    @Test(arguments: TLSVersion.tested, [0, 1, 5, 100, 16_000])
    func aBurstThatIsTruncated(_ version: TLSVersion, _ missing: Int) throws {
        let pair = try established(version)
        let bytes = Self.pattern(5 * 16_384)
        _ = try pair.server.write(bytes.span)
        let sent = pair.toClient.takeAll()
        pair.toClient.put(Array(sent.dropLast(missing)))
        pair.toClient.isClosed = true
        let whole = missing == 0 ? bytes : Array(bytes.dropLast(16_384))
        #expect(try read(pair, room: Self.wide) == .bytes(whole))
        #expect(pair.client.hasBufferedInput)
        for _ in 0..<2 {
            #expect(throws: TLSError.truncated) { try read(pair, room: Self.wide) }
        }
    }

    @Test(arguments: TLSVersion.tested) func aWireThatFailsAfterABurst(_ version: TLSVersion) throws {
        let pair = try established(version)
        let bytes = Self.pattern(50_000)
        _ = try pair.server.write(bytes.span)
        pair.clientWire.failsWhenDrained = true
        #expect(try read(pair, room: Self.wide) == .bytes(bytes))
        for _ in 0..<2 {
            #expect(throws: TLSError.wireFailed) { try read(pair, room: Self.wide) }
        }
    }

    @Test(arguments: TLSVersion.tested) func aCorruptedRecordInABurst(_ version: TLSVersion) throws {
        let pair = try established(version)
        let bytes = Self.pattern(6 * 16_384)
        _ = try pair.server.write(bytes.span)
        var sent = pair.toClient.takeAll()
        sent[sent.count - 1] ^= 1
        pair.toClient.put(sent)
        #expect(try read(pair, room: Self.wide) == .bytes(Array(bytes.dropLast(16_384))))
        #expect(pair.client.hasBufferedInput)
        for _ in 0..<2 {
            #expect {
                try read(pair, room: Self.wide)
            } throws: { error in
                guard case .protocolViolation(let failure) = error as? TLSError else { return false }
                return failure.isSSL(SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC)
            }
        }
    }

    private func updateKeys(_ pair: EnginePair) {
        unsafe _ = SSL_key_update(pair.server.connection, SSL_KEY_UPDATE_NOT_REQUESTED)
        unsafe _ = SSL_do_handshake(pair.server.connection)
    }

    /// Checks that key updates with enough data between them are not counted as a flood.
    @Test func newKeysBetweenMuchData() throws {
        let pair = try established(.v1_3)
        let piece = Self.pattern(16_384)
        for _ in 0..<(TLSEngine.messageLimit + 100) {
            updateKeys(pair)
            _ = try pair.server.write(piece.span)
            guard try read(pair, room: Self.wide) == .bytes(piece) else {
                Issue.record("other bytes arrived")
                return
            }
        }
    }

    /// Checks that key updates with one octet between them are counted: each costs more than the octet that follows.
    @Test func newKeysBetweenSingleOctets() throws {
        let pair = try established(.v1_3)
        var octets = 0
        #expect {
            for _ in 0..<(2 * TLSEngine.messageLimit) {
                updateKeys(pair)
                _ = try pair.server.write([1].span)
                if case .bytes = try read(pair, room: Self.wide) { octets += 1 }
            }
        } throws: { error in
            guard case .tooManyMessages(let count) = error as? TLSError else { return false }
            return count > TLSEngine.messageLimit
        }
        #expect((TLSEngine.messageLimit - 20)...TLSEngine.messageLimit ~= octets, "\(octets)")
    }

    /// Checks that one call reads a limited number of records and leaves the remainder to the next one.
    @Test(arguments: TLSVersion.tested) func manySmallRecords(_ version: TLSVersion) throws {
        let pair = try established(version)
        let octets = Self.pattern(1000)
        for octet in octets { _ = try pair.server.write([octet].span) }
        var calls = 0
        var received: [UInt8] = []
        while case .bytes(let more) = try read(pair, room: Self.wide) {
            #expect(more.count <= 64)
            calls += 1
            received += more
        }
        #expect(received == octets && calls == 16)
    }

    /// Checks that a wire that does not report queued bytes is read once per call: a second read might block.
    @Test(arguments: TLSVersion.tested) func aWireWithoutAReportIsReadOnce(_ version: TLSVersion) throws {
        let pair = try established(version)
        pair.clientWire.reportsQueuedBytes = false
        let bytes = Self.pattern(200_000)
        _ = try pair.server.write(bytes.span)
        let before = pair.clientWire.receives
        guard case .bytes(let first) = try read(pair, room: Self.wide) else {
            Issue.record("no bytes arrived")
            return
        }
        #expect(pair.clientWire.receives == before + 1)
        #expect(first == Array(bytes.prefix(first.count)))
    }
}
