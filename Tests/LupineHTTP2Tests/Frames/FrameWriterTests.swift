// SPDX-License-Identifier: MIT

import LupineHTTP2
import Testing

/// Tests of the octets of written frames, and of reading them back.
@Suite struct FrameWriterTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let title: String
        let wire: String
        let write: @Sendable (inout [UInt8]) -> Void
        var testDescription: String { title }

        init(_ title: String, _ wire: String, _ write: @escaping @Sendable (inout [UInt8]) -> Void) {
            self.title = title
            self.wire = wire
            self.write = write
        }
    }

    static func headers(
        _ block: [UInt8], endsStream: Bool = true, _ size: Int = 16_384
    ) -> @Sendable (inout [UInt8]) -> Void {
        return {
            FrameWriter.headers(
                StreamID(1), block: block.span, endsStream: endsStream, maximumFrameSize: size, into: &$0)
        }
    }

    static let rows: [Row] = [
        Row("DATA", "000005 00 01 00000001") {
            FrameWriter.data(StreamID(1), length: 5, endsStream: true, into: &$0)
        },
        Row("DATA of 16 MB", "ffffff 00 00 7fffffff") {
            FrameWriter.data(.largest, length: 0xFF_FFFF, endsStream: false, into: &$0)
        },
        Row("RST_STREAM", "000004 03 00 00000001 00000008") {
            FrameWriter.reset(StreamID(1), .cancel, into: &$0)
        },
        Row("SETTINGS", "000006 04 00 00000000 0005 00004000") {
            FrameWriter.settings([Setting(.maxFrameSize, 16_384)], into: &$0)
        },
        Row("SETTINGS acknowledged", "000000 04 01 00000000") {
            FrameWriter.settingsAcknowledgement(into: &$0)
        },
        Row("PING", "000008 06 00 00000000 0102030405060708") {
            FrameWriter.ping(0x0102_0304_0506_0708, isAcknowledgement: false, into: &$0)
        },
        Row("PING acknowledged", "000008 06 01 00000000 0000000000000001") {
            FrameWriter.ping(1, isAcknowledgement: true, into: &$0)
        },
        Row("GOAWAY", "000009 07 00 00000000 00000007 00000001 61") {
            let debug: [UInt8] = [0x61]
            FrameWriter.goAway(last: StreamID(7), .protocolError, debug: debug.span, into: &$0)
        },
        Row("WINDOW_UPDATE", "000004 08 00 00000000 7fffffff") {
            FrameWriter.windowUpdate(.connection, increment: 0x7FFF_FFFF, into: &$0)
        },
        Row("PRIORITY_UPDATE", "000007 10 00 00000000 00000005 753d31") {
            FrameWriter.priorityUpdate(StreamID(5), value: "u=1".utf8.span, into: &$0)
        },
        Row("HEADERS", "000001 01 05 00000001 82", headers([0x82])),
        Row("HEADERS without a field", "000000 01 04 00000001", headers([], endsStream: false)),
        Row(
            "HEADERS in three frames",
            "000002 01 01 00000001 0102 000002 09 00 00000001 0304 000001 09 04 00000001 05",
            headers([1, 2, 3, 4, 5], 2)),
        Row(
            "HEADERS in two full frames", "000002 01 00 00000001 0102 000002 09 04 00000001 0304",
            headers([1, 2, 3, 4], endsStream: false, 2)),
        Row("PUSH_PROMISE", "000006 05 00 00000001 00000002 0102 000001 09 04 00000001 03") {
            let block: [UInt8] = [1, 2, 3]
            FrameWriter.pushPromise(
                StreamID(1), promised: StreamID(2), block: block.span, maximumFrameSize: 6, into: &$0)
        },
    ]

    @Test(arguments: rows) func framesAreWritten(_ row: Row) {
        var output: [UInt8] = []
        row.write(&output)
        #expect(output == Octets.hex(row.wire))
    }

    /// Writes random frames, and reads them back in random pieces.
    @Test(arguments: 0..<50) func framesAreReadBack(_ seed: Int) throws {
        var numbers = SeededNumbers(seed: UInt64(seed))
        var wire = WireFrames.settings
        var sent: [FrameEvent] = [.settings([])]
        for _ in 0..<40 { sent.append(Self.frame(&numbers, into: &wire)) }
        var reader = FrameReader(.client)
        var received: [FrameEvent] = []
        var content = 0
        var unread = wire[...]
        while !unread.isEmpty {
            var piece = unread.prefix(Int.random(in: 1...3_000, using: &numbers))
            unread = unread.dropFirst(piece.count)
            var event = FrameEvent.needMore
            repeat {
                let consumed: Int
                (event, consumed) = try reader.next(piece.span)
                piece = piece.dropFirst(consumed)
                switch event {
                case .needMore: break
                case .content(_, let range): content += range.count
                case .dataEnded(let stream, _):
                    #expect(received.last == .dataBegan(stream, flowControlled: content))
                    content = 0
                default: received.append(event)
                }
            } while event != .needMore
            #expect(piece.isEmpty)
        }
        #expect(received == sent)
        #expect(reader.isBetweenFrames)
    }

    private static func frame(_ numbers: inout SeededNumbers, into wire: inout [UInt8]) -> FrameEvent {
        let stream = StreamID(UInt32(truncatingIfNeeded: numbers.next() % 1_000) * 2 + 1)
        let octets = (0..<Int(numbers.next() % 300)).map { _ in UInt8(truncatingIfNeeded: numbers.next()) }
        let code = HTTP2ErrorCode(rawValue: UInt32(truncatingIfNeeded: numbers.next()))
        let size = 10 + octets.count / 3
        switch numbers.next() % 8 {
        case 0:
            FrameWriter.data(stream, length: octets.count, endsStream: false, into: &wire)
            wire += octets
            return .dataBegan(stream, flowControlled: octets.count)
        case 1:
            FrameWriter.headers(
                stream, block: octets.span, endsStream: true, maximumFrameSize: size, into: &wire)
            return .headers(stream, block: octets, endsStream: true)
        case 2:
            FrameWriter.pushPromise(
                stream, promised: StreamID(8), block: octets.span, maximumFrameSize: size, into: &wire)
            return .pushPromise(stream, promised: StreamID(8), block: octets)
        case 3:
            FrameWriter.reset(stream, code, into: &wire)
            return .reset(stream, code)
        case 4:
            FrameWriter.ping(UInt64(code.rawValue) << 20, isAcknowledgement: false, into: &wire)
            return .ping(UInt64(code.rawValue) << 20)
        case 5:
            FrameWriter.goAway(last: stream, code, debug: octets.span, into: &wire)
            return .goAway(last: stream, code, debug: octets)
        case 6:
            let settings = octets.prefix(20).map {
                Setting(Setting.Identifier(rawValue: UInt16($0)), code.rawValue)
            }
            FrameWriter.settings(settings, into: &wire)
            return .settings(settings)
        default:
            FrameWriter.windowUpdate(stream, increment: octets.count + 1, into: &wire)
            return .windowUpdate(stream, increment: octets.count + 1)
        }
    }
}
