// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineHTTP2
import Testing

/// Tests of flow control of streams and of the connection, in both directions (RFC 9113 §5.2 and §6.9).
@Suite struct FlowControlTests {
    typealias Wire = WireFrames

    static let client = MachineSession.opened(.client, gets: 1, posts: 1)

    /// A client whose POST on stream 1 has used up its windows.
    static let full: MachineSession = {
        var session = MachineSession.opened(.client, posts: 2)
        for _ in 0..<4 { _ = try? session.send([UInt8](repeating: 1, count: 16_384), on: 1) }
        return session
    }()

    static let rows: [MachineRow] = [
        MachineRow(
            "[H-6.14] more DATA than the connection has room for", client,
            Wire.response(1) + Wire.response(3) + Wire.times(2, Wire.data(1, count: 16_384))
                + Wire.times(2, Wire.data(3, count: 16_384)),
            "response 1 200", "response 3 200", "content 1 of 32768", "content 3 of 16384",
            error: .flowControl(.exceeded(window: 16_383, count: 16_384), .connection)),
        MachineRow(
            "[H-6.14] more DATA than the stream has room for",
            MachineSession.opened(.client, window: 1 << 20, gets: 1),
            Wire.response(1) + Wire.times(4, Wire.data(1, count: 16_384)) + Wire.ping(),
            "response 1 200", "content 1 of 49152",
            "failed 1 FLOW_CONTROL_ERROR: 16384 octets came into a flow-control window of 16383",
            "sent RST_STREAM 1 FLOW_CONTROL_ERROR", "sent PING 1 ack"),
        MachineRow(
            "[H-6.14] content that resets its stream is returned to the connection's window", client,
            Wire.response(3, end: true) + Wire.times(2, Wire.data(3, count: 16_384)),
            "response 3 200", "end 3",
            "failed 3 STREAM_CLOSED: DATA came behind the end of the stream (STREAM_CLOSED)",
            "sent RST_STREAM 3 STREAM_CLOSED", "sent WINDOW_UPDATE 0 +32768"),
        MachineRow(
            "[H-6.13] padding is returned to the windows at once", client,
            Wire.response(1)
                + Wire.times(200, Wire.frame(0, 8, on: 1, [200, 0x61] + [UInt8](repeating: 0, count: 200))),
            "response 1 200", "content 1 of 200", "sent WINDOW_UPDATE 0 +32763",
            "sent WINDOW_UPDATE 1 +32763"),
        MachineRow(
            "[H-6.13] DATA on a cancelled stream is returned to the connection's window",
            StreamRulesTests.cancelled,
            Wire.times(2, Wire.data(1, count: 16_384)), "sent WINDOW_UPDATE 0 +32768"),
        MachineRow(
            "[H-6.13] DATA on a refused stream is returned to the connection's window",
            StreamRulesTests.server(maxConcurrentStreams: 0),
            Wire.post(1) + Wire.times(2, Wire.data(1, count: 16_384)), "sent RST_STREAM 1 REFUSED_STREAM",
            "sent WINDOW_UPDATE 0 +32768"),
        MachineRow(
            "[H-6.15] a stream's window opens", full,
            Wire.window(0, 10) + Wire.window(1, 5) + Wire.window(1, 5),
            "window 0 opened", "window 1 opened"),
        MachineRow(
            "[H-6.16] the connection's window overflows", client, Wire.window(0, 0x7FFF_FFFF),
            error: .flowControl(.overflow(window: 65_535, increment: 0x7FFF_FFFF), .connection)),
        MachineRow(
            "[H-6.16] a stream's window overflows", client, Wire.window(3, 0x7FFF_FFFF) + Wire.ping(),
            "failed 3 FLOW_CONTROL_ERROR: 2147483647 more octets take a flow-control window of 65535 over its largest "
                + "size", "sent RST_STREAM 3 FLOW_CONTROL_ERROR", "sent PING 1 ack"),
        MachineRow(
            "[H-6.16] SETTINGS let a stream's window overflow", client,
            Wire.window(3, 0x7FFF_FFFF - 65_535) + Wire.settings((4, 65_536)),
            error: .flowControl(.overflow(window: 0x7FFF_FFFF, increment: 1), StreamID(3))),
        MachineRow(
            "SETTINGS let several streams' windows overflow", MachineSession.opened(.client, posts: 9),
            [3, 5, 7, 11, 17].flatMap { Wire.window($0, 0x7FFF_FFFF - 65_535) } + Wire.settings((4, 65_536)),
            error: .flowControl(.overflow(window: 0x7FFF_FFFF, increment: 1), StreamID(3))),
        MachineRow(
            "[H-6.15] WINDOW_UPDATE with a zero increment is a stream error", client, Wire.window(3, 0),
            "failed 3 PROTOCOL_ERROR: WINDOW_UPDATE on stream 3 adds nothing",
            "sent RST_STREAM 3 PROTOCOL_ERROR"),
        MachineRow(
            "WINDOW_UPDATE with a zero increment on a closed stream", StreamRulesTests.cancelled,
            Wire.window(1, 0)),
        MachineRow(
            "[H-6.15] WINDOW_UPDATE with a zero increment for the connection", client, Wire.window(0, 0),
            error: .frame(.zeroIncrement(.connection))),
    ]

    @Test(arguments: rows) func row(_ row: MachineRow) { row.check() }

    // MARK: receiving

    @Test("[H-6.13] unconsumed content stops its stream, and no other") func backPressure() {
        var session = MachineSession.opened(.client, window: 1 << 20, gets: 2)
        session.receive(Wire.response(1) + Wire.response(3))
        session.receive(Wire.times(3, Wire.data(1, count: 16_384)) + Wire.data(1, count: 16_383))
        #expect(session.sent() == [])
        session.consumes = true
        session.receive(Wire.times(4, Wire.data(3, count: 16_384)))
        #expect(session.sent() == ["sent WINDOW_UPDATE 3 +32768", "sent WINDOW_UPDATE 3 +32768"])
        session.machine.consumed(65_535, on: StreamID(1))
        #expect(session.sent() == ["sent WINDOW_UPDATE 1 +65535"])
        #expect(session.machine.error == nil)
    }

    @Test func contentOfAResetStreamIsReturnedToTheConnection() {
        var session = MachineSession.opened(.client, gets: 2)
        session.receive(Wire.response(1) + Wire.times(2, Wire.data(1, count: 16_384)))
        session.machine.reset(StreamID(1), .cancel)
        _ = session.sent()
        session.machine.consumed(32_768, on: StreamID(1))
        #expect(session.sent() == ["sent WINDOW_UPDATE 0 +32768"])
    }

    @Test func aStreamThatIsResetWithinAFrame() {
        var session = MachineSession.opened(.client, gets: 2)
        let data = Wire.data(1, count: 16_384)
        session.receive(Wire.response(1) + data.prefix(9 + 100))
        session.machine.reset(StreamID(1), .cancel)
        session.receive(Array(data.dropFirst(9 + 100)) + Wire.data(1, count: 16_384) + Wire.response(3))
        #expect(session.takeLines() == ["response 1 200", "content 1 of 100", "response 3 200"])
        #expect(session.sent() == ["sent RST_STREAM 1 CANCEL"])
        session.machine.consumed(100, on: StreamID(1))
        #expect(session.sent() == ["sent WINDOW_UPDATE 0 +32768"])
    }

    @Test("[H-5.7] content that was sent before a reset is dropped, even a large window of it")
    func contentSentBeforeAReset() {
        var session = MachineSession.opened(.client, window: 1 << 24, gets: 2)
        session.machine.raiseWindow(of: StreamID(1), to: 1 << 24)
        session.receive(Wire.response(1))
        session.machine.reset(StreamID(1), .cancel)
        let frame = Wire.data(1, count: 16_384)
        for _ in 0..<1_024 { session.receive(frame) }
        session.receive(Wire.response(3, end: true))
        #expect(session.takeLines() == ["response 1 200", "response 3 200", "end 3"])
        #expect(session.machine.receiveRoom == 1 << 24)
    }

    @Test func noUpdatesForAStreamThatHasEnded() {
        var session = MachineSession.opened(.client, posts: 1)
        session.consumes = true
        session.receive(
            Wire.response(1) + Wire.data(1, count: 16_384) + Wire.data(1, count: 16_384, end: true))
        #expect(session.sent() == ["sent WINDOW_UPDATE 0 +32768", "sent WINDOW_UPDATE 1 +32768"])
        session = MachineSession.opened(.client, posts: 1)
        session.receive(
            Wire.response(1) + Wire.data(1, count: 16_384) + Wire.data(1, count: 16_384, end: true))
        session.machine.consumed(32_768, on: StreamID(1))
        #expect(session.sent() == ["sent WINDOW_UPDATE 0 +32768"])
    }

    @Test("[H-6.17] SETTINGS_INITIAL_WINDOW_SIZE of this end moves all streams' windows")
    func ownInitialWindow() {
        var session = MachineSession.opened(.client, window: 1 << 20, gets: 2)
        var settings = session.machine.settings
        settings.initialWindowSize = 100_000
        session.machine.change(settings, at: .zero)
        // The peer may use the larger window before its acknowledgement arrives.
        session.receive(Wire.response(1) + Wire.times(6, Wire.data(1, count: 16_384)))
        #expect(session.machine.error == nil)
        session.receive(Wire.settingsAck)
        settings.initialWindowSize = 1_000
        session.machine.change(settings, at: .zero)
        _ = (session.takeLines(), session.sent())
        // Until it has received the smaller value, the peer may use the old window.
        session.receive(Wire.response(3) + Wire.data(3, count: 2_000) + Wire.settingsAck)
        #expect(session.takeLines() == ["response 3 200", "content 3 of 2000", "settings acknowledged"])
        // Stream 1's window is at -97,304 and stream 3's at -1,000: consuming the content brings them back to 1,000.
        session.machine.consumed(2_000, on: StreamID(3))
        session.machine.consumed(98_304, on: StreamID(1))
        #expect(session.sent() == ["sent WINDOW_UPDATE 3 +2000", "sent WINDOW_UPDATE 1 +98304"])
        session.receive(Wire.data(3, count: 1_000) + Wire.data(1, count: 1_000) + Wire.data(3, count: 1))
        #expect(
            session.takeLines() == [
                "content 3 of 1000", "content 1 of 1000",
                "failed 3 FLOW_CONTROL_ERROR: 1 octets came into a flow-control window of 0",
            ])
    }

    @Test func raisedWindows() {
        var session = MachineSession.opened(.client, gets: 1)
        session.machine.raiseWindow(to: 100_000)
        session.machine.raiseWindow(to: 100_000)
        session.machine.raiseWindow(to: 50_000)
        session.machine.raiseWindow(of: StreamID(1), to: 80_000)
        session.machine.raiseWindow(of: StreamID(9), to: 80_000)
        session.machine.raiseWindow(of: StreamID(1), to: .max)
        #expect(
            session.sent() == [
                "sent WINDOW_UPDATE 0 +34465", "sent WINDOW_UPDATE 1 +14465",
                "sent WINDOW_UPDATE 1 +1073661824",
            ])
        session.receive(Wire.response(1) + Wire.times(6, Wire.data(1, count: 16_384)))
        session.machine.consumed(1_000, on: StreamID(1))
        #expect(session.sent() == [])
        session.machine.consumed(49_152, on: StreamID(1))
        #expect(session.sent() == ["sent WINDOW_UPDATE 0 +50152"])
    }

    // MARK: sending

    @Test("[H-6.15] sent DATA keeps within both windows and the peer's frame size") func sending() throws {
        var session = MachineSession.opened(.client, posts: 2)
        let long = [UInt8](repeating: 1, count: 70_000)
        #expect(session.machine.sendRoom(of: StreamID(1)) == 65_535)
        #expect(try session.send(long, on: 1) == ["sent DATA 1 of 16384"])
        #expect(try session.send(Array(long.prefix(50)), on: 3) == ["sent DATA 3 of 50"])
        for _ in 0..<2 { #expect(try session.send(long, on: 1) == ["sent DATA 1 of 16384"]) }
        #expect(try session.send(long, on: 1) == ["sent DATA 1 of 16333"])
        #expect(session.machine.sendRoom == 0)
        #expect(session.machine.sendRoom(of: StreamID(3)) == 0)
        #expect(try session.send(long, on: 1, endsStream: true) == [])
        session.receive(Wire.window(0, 1_000))
        #expect(try session.send(long, on: 1) == ["sent DATA 1 of 50"])
        #expect(try session.send(long, on: 1) == [])
        #expect(try session.send([1, 2], on: 3, endsStream: true) == ["sent DATA 3 of 2, end"])
        #expect(try session.send([], on: 1, endsStream: true) == ["sent DATA 1 of 0, end"])
        #expect(throws: HTTP2SendError.streamOver(StreamID(1))) { try session.send([1], on: 1) }
        #expect(throws: HTTP2SendError.streamOver(StreamID(1))) {
            try session.send([], on: 1, endsStream: true)
        }
        #expect(throws: HTTP2SendError.streamOver(StreamID(99))) { try session.send([1], on: 99) }
    }

    /// The consumed octets are too few for a WINDOW_UPDATE of the large window; in the small window they are all that the peer
    /// has left.
    @Test("[H-6.17] a window that becomes small sends its pending increment")
    func ownSmallerWindow() {
        var session = MachineSession.opened(.client, window: 1 << 20, gets: 1)
        session.receive(Wire.response(1) + Wire.data(1, count: 10_000))
        session.machine.consumed(10_000, on: StreamID(1))
        _ = (session.takeLines(), session.sent())
        var settings = session.machine.settings
        settings.initialWindowSize = 1_000
        session.machine.change(settings, at: .zero)
        _ = session.sent()
        session.receive(Wire.settingsAck)
        #expect(session.sent() == ["sent WINDOW_UPDATE 1 +10000"])
        #expect(session.takeLines() == ["settings acknowledged"])
        #expect(session.machine.windowsAddUp)
    }

    @Test("[H-6.17] SETTINGS_INITIAL_WINDOW_SIZE of the peer may make windows negative") func negativeWindow()
        throws
    {
        var session = MachineSession.opened(.client, posts: 1)
        _ = try session.send([UInt8](repeating: 1, count: 1_000), on: 1)
        session.receive(Wire.settings((4, 100)))
        #expect(session.machine.sendRoom(of: StreamID(1)) == 0)
        session.receive(Wire.window(1, 900))
        #expect(session.machine.sendRoom(of: StreamID(1)) == 0)
        #expect(session.takeLines() == ["settings"])
        session.receive(Wire.window(1, 1))
        #expect(session.takeLines() == ["window 1 opened"])
        #expect(try session.send([1, 2, 3], on: 1) == ["sent SETTINGS ack", "sent DATA 1 of 1"])
        session.receive(Wire.settings((4, 200)))
        #expect(session.machine.sendRoom(of: StreamID(1)) == 100)
        // The connection's window does not follow the setting.
        #expect(session.machine.sendRoom == 65_535 - 1_001)
    }
}
