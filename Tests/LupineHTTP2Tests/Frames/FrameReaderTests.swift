// SPDX-License-Identifier: MIT

import LupineHTTP2
import Testing

/// Tests of the frames that the reader accepts and refuses (RFC 9113 §4 and §6). Each row is read whole, cut in two at each
/// octet, and octet by octet.
@Suite struct FrameReaderTests {
    struct Row: CustomTestStringConvertible {
        let title: String
        let role: HTTP2Role
        let limits: FrameLimits
        /// Whether `wire` is the whole input. If not, the test puts the peer's first frames before it.
        let isWhole: Bool
        let allowsPush: Bool
        let wire: [UInt8]
        let expected: [String]

        var testDescription: String { title }

        init(
            _ title: String, to role: HTTP2Role = .client, limits: FrameLimits = FrameLimits(),
            isWhole: Bool = false, allowsPush: Bool = true, _ wire: [UInt8], _ expected: String...,
            error: HTTP2Error? = nil
        ) {
            self.title = title
            self.role = role
            self.limits = limits
            self.isWhole = isWhole
            self.allowsPush = allowsPush
            self.wire = wire
            self.expected = expected + (error.map { ["\($0.code): \($0)"] } ?? [])
        }
    }

    static func frame(
        _ type: UInt8, _ flags: UInt8 = 0, on stream: UInt32 = 0, _ payload: [UInt8] = [], length: Int? = nil
    ) -> [UInt8] { WireFrames.frame(type, flags, on: stream, payload, length: length) }
    static func text(_ text: String) -> [UInt8] { Array(text.utf8) }
    static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

    static let data: [Row] = [
        Row("DATA", frame(0, on: 1, text("Hello")), "DATA 1 of 5", "content 'Hello'", "end of DATA 1"),
        Row(
            "DATA that ends the stream", frame(0, 1, on: 1, text("a")), "DATA 1 of 1", "content 'a'",
            "end of DATA 1, of the stream"),
        Row("empty DATA", frame(0, 1, on: 3), "DATA 3 of 0", "end of DATA 3, of the stream"),
        Row(
            "[H-6.1] padding counts and is not content",
            frame(0, 8, on: 1, [3] + text("ab") + zeros(3)), "DATA 1 of 6", "content 'ab'", "end of DATA 1"),
        Row(
            "a padding length of zero", frame(0, 8, on: 1, [0] + text("ab")), "DATA 1 of 3", "content 'ab'",
            "end of DATA 1"),
        Row(
            "only padding", frame(0, 9, on: 1, [2, 0, 0]), "DATA 1 of 3",
            "end of DATA 1, of the stream"),
        Row("only a padding length", frame(0, 8, on: 1, [0]), "DATA 1 of 1", "end of DATA 1"),
        Row(
            "the longest padding", frame(0, 8, on: 1, [255] + text("a") + zeros(255)), "DATA 1 of 257",
            "content 'a'", "end of DATA 1"),
        Row(
            "[H-4.1] unknown flags are ignored", frame(0, 0xF6, on: 1, text("a")), "DATA 1 of 1",
            "content 'a'", "end of DATA 1"),
        Row(
            "[H-4.1] the reserved bit is ignored", frame(0, on: 0x8000_0001, text("a")),
            "DATA 1 of 1", "content 'a'", "end of DATA 1"),
        Row("[H-4.6] DATA on stream 0", frame(0), error: .streamNeeded(.data)),
        Row(
            "[H-6.1] as much padding as payload", frame(0, 8, on: 1, [1]), "DATA 1 of 1",
            error: .paddingTooLong(.data, padding: 1, room: 0)),
        Row(
            "more padding than payload", frame(0, 8, on: 1, [3, 0, 0]), "DATA 1 of 3",
            error: .paddingTooLong(.data, padding: 3, room: 2)),
        Row(
            "[H-4.5] padded DATA without a padding length", frame(0, 8, on: 1),
            error: .wrongLength(.data, length: 0)),
    ]

    static let headers: [Row] = [
        Row("HEADERS", frame(1, 4, on: 1, text("abc")), "HEADERS 1 'abc'"),
        Row(
            "HEADERS that ends the stream", frame(1, 5, on: 1, text("abc")),
            "HEADERS 1 'abc', end of the stream"),
        Row("an empty block", frame(1, 4, on: 1), "HEADERS 1 ''"),
        Row("a padded block", frame(1, 0x0C, on: 1, [2] + text("abc") + zeros(2)), "HEADERS 1 'abc'"),
        Row("a block with a priority", frame(1, 0x24, on: 1, zeros(5) + text("abc")), "HEADERS 1 'abc'"),
        Row(
            "padding and a priority", frame(1, 0x2D, on: 1, [1] + zeros(5) + text("abc") + zeros(1)),
            "HEADERS 1 'abc', end of the stream"),
        Row(
            "[H-6.2] as much padding as the payload has room for", frame(1, 0x0C, on: 1, [2, 0, 0]),
            "HEADERS 1 ''"),
        Row(
            "[H-6.2] more padding than room", frame(1, 0x0C, on: 1, [3, 0, 0]),
            error: .paddingTooLong(.headers, padding: 3, room: 2)),
        Row(
            "more padding than room after a priority", frame(1, 0x2C, on: 1, [3] + zeros(5) + [0, 0]),
            error: .paddingTooLong(.headers, padding: 3, room: 2)),
        Row(
            "[H-4.5] a block without its padding length", frame(1, 0x0C, on: 1),
            error: .wrongLength(.headers, length: 0)),
        Row(
            "[H-4.5] a block without its priority", frame(1, 0x24, on: 1, zeros(4)),
            error: .wrongLength(.headers, length: 4)),
        Row(
            "a block without all of its priority and padding length", frame(1, 0x2C, on: 1, zeros(5)),
            error: .wrongLength(.headers, length: 5)),
        Row("[H-4.6] HEADERS on stream 0", frame(1, 4), error: .streamNeeded(.headers)),
    ]

    static let blocks: [Row] = [
        Row(
            "a block in three frames",
            frame(1, 1, on: 1, text("ab")) + frame(9, on: 1, text("c")) + frame(9, 4, on: 1, text("d")),
            "HEADERS 1 'abcd', end of the stream"),
        Row(
            "only the first frame has padding",
            frame(1, 8, on: 1, [1] + text("ab") + zeros(1)) + frame(9, 0x0C, on: 1, text("c")),
            "HEADERS 1 'abc'"),
        Row(
            "two blocks in a row",
            frame(1, on: 1, text("a")) + frame(9, 4, on: 1) + frame(1, 4, on: 3, text("b")),
            "HEADERS 1 'a'", "HEADERS 3 'b'"),
        Row(
            "[H-6.12] another frame inside a block", frame(1, on: 1) + frame(0, on: 1),
            error: .headerBlockInterrupted(StreamID(1), by: .data, on: StreamID(1))),
        Row(
            "a PING inside a block", frame(1, on: 1) + frame(6, 0, zeros(8)),
            error: .headerBlockInterrupted(StreamID(1), by: .ping, on: .connection)),
        Row(
            "HEADERS inside a block", frame(1, on: 1) + frame(1, 4, on: 1),
            error: .headerBlockInterrupted(StreamID(1), by: .headers, on: StreamID(1))),
        Row(
            "[H-6.12] CONTINUATION on another stream", frame(1, on: 1) + frame(9, 4, on: 3),
            error: .headerBlockInterrupted(StreamID(1), by: .continuation, on: StreamID(3))),
        Row(
            "[H-6.12] CONTINUATION on stream 0 inside a block", frame(1, on: 1) + frame(9, 4),
            error: .headerBlockInterrupted(StreamID(1), by: .continuation, on: .connection)),
        Row(
            "[H-6.12] an unknown frame inside a block", frame(1, on: 1) + frame(0xEE, on: 1),
            error: .headerBlockInterrupted(StreamID(1), by: FrameType(rawValue: 0xEE), on: StreamID(1))),
        Row(
            "[H-6.12] CONTINUATION without a block", frame(9, 4, on: 1),
            error: .unexpectedContinuation(StreamID(1))),
        Row(
            "[H-6.12] CONTINUATION after a whole block", frame(1, 4, on: 1) + frame(9, 4, on: 1),
            "HEADERS 1 ''", error: .unexpectedContinuation(StreamID(1))),
        Row("CONTINUATION on stream 0", frame(9, 4), error: .unexpectedContinuation(.connection)),
    ]

    static let push: [Row] = [
        Row("PUSH_PROMISE", frame(5, 4, on: 1, [0, 0, 0, 2] + text("ab")), "PUSH_PROMISE 1 of 2 'ab'"),
        Row(
            "a padded promise with its reserved bit set",
            frame(5, 0x0C, on: 1, [1, 0x80, 0, 0, 2] + text("ab") + zeros(1)), "PUSH_PROMISE 1 of 2 'ab'"),
        Row(
            "a promise in two frames",
            frame(5, on: 1, [0, 0, 0, 4] + text("a")) + frame(9, 4, on: 1, text("b")),
            "PUSH_PROMISE 1 of 4 'ab'"),
        Row(
            "[H-4.6] a promise on stream 0", frame(5, 4, zeros(4)),
            error: .streamNeeded(.pushPromise)),
        Row(
            "[H-6.7] a promise that was refused", allowsPush: false,
            frame(5, 4, on: 1, [0, 0, 0, 2]), error: .pushNotAllowed),
        Row(
            "[H-6.7] a promise to a server", to: .server, frame(5, 4, on: 1, [0, 0, 0, 2]),
            error: .pushNotAllowed),
        Row(
            "[H-6.6] a promise of stream 0", frame(5, 4, on: 1, zeros(4)),
            error: .invalidPromisedStream(.connection)),
        Row(
            "[H-6.6] a promise of a client's stream", frame(5, 4, on: 1, [0, 0, 0, 3]),
            error: .invalidPromisedStream(StreamID(3))),
        Row(
            "[H-4.5] a promise that is too short", frame(5, 4, on: 1, zeros(3)),
            error: .wrongLength(.pushPromise, length: 3)),
        Row(
            "[H-6.6] more padding than room after a promise",
            frame(5, 0x0C, on: 1, [2, 0, 0, 0, 2, 0]),
            error: .paddingTooLong(.pushPromise, padding: 2, room: 1)),
    ]

    static let all = data + headers + blocks + push + FrameReaderControlRows.all

    @Test(arguments: all) func framesAreRead(_ row: Row) {
        var reader = FrameReader(row.role, limits: row.limits)
        reader.allowsPush = row.allowsPush
        let opening = row.isWhole ? [] : WireFrames.opening(to: row.role)
        let expected = (row.isWhole ? [] : ["SETTINGS "]) + row.expected
        #expect(WireFrames.logsAtEveryCut(of: opening + row.wire, by: reader) == [expected])
    }

    @Test func anErrorIsPermanent() {
        var reader = FrameReader(.client)
        let invalid = Self.frame(6)
        let valid = WireFrames.settings
        #expect(throws: HTTP2Error.settingsExpected(.ping)) { try reader.next(invalid.span).event }
        #expect(throws: HTTP2Error.settingsExpected(.ping)) { try reader.next(valid.span).event }
    }

    @Test func octetsAfterAnEventAreNotConsumed() throws {
        var reader = FrameReader(.client)
        let wire = WireFrames.settings + Self.frame(0, on: 1, Self.text("ab"))
        let expected: [(FrameEvent, Int)] = [
            (.settings([]), 9), (.dataBegan(StreamID(1), flowControlled: 2), 9),
            (.content(StreamID(1), 0..<2), 2), (.dataEnded(StreamID(1), endsStream: false), 0),
            (.needMore, 0),
        ]
        var offset = 0
        for (event, count) in expected {
            let (received, consumed) = try reader.next(wire.span.extracting(offset...))
            #expect(received == event && consumed == count)
            offset += consumed
        }
    }

    @Test func framesEndWhereNoHeaderBlockIsOpen() throws {
        var reader = FrameReader(.server)
        let wire =
            FrameReader.clientPreface + WireFrames.settings + Self.frame(1, on: 1, [1])
            + Self.frame(9, 4, on: 1, [2]) + Self.frame(0, 8, on: 1, [1, 7, 0])
        // After the preface, and after each frame that leaves no header block open.
        let ends: Set = [24, 33, 53]
        for index in wire.indices {
            #expect(reader.isBetweenFrames == ends.contains(index), "\(index)")
            var offset = index
            while true {
                let (event, consumed) = try reader.next(wire.span.extracting(offset..<(index + 1)))
                offset += consumed
                if event == .needMore { break }
            }
        }
        #expect(reader.isBetweenFrames)
    }

    /// Changes octets of legal and illegal frames: the reader must not trap, and its events must not depend on how the input is
    /// cut.
    @Test(arguments: 0..<8) func hostileOctets(_ seed: Int) {
        var numbers = SeededNumbers(seed: UInt64(seed))
        for _ in 0..<500 {
            let row = Self.all[Int(numbers.next() % UInt64(Self.all.count))]
            guard row.wire.count < 100 else { continue }
            var wire = row.wire
            for _ in 0...(numbers.next() % 3) {
                wire[Int(numbers.next() % UInt64(wire.count))] = UInt8(truncatingIfNeeded: numbers.next())
            }
            wire = WireFrames.opening(to: row.role) + wire + row.wire
            let reader = FrameReader(row.role, limits: row.limits)
            let whole = WireFrames.log(of: [wire], by: reader)
            #expect(WireFrames.log(of: wire.map { [$0] }, by: reader) == whole)
        }
    }
}
