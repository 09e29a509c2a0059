// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineHTTP2
import Testing

/// Tests of the rules of streams and windows for a server (RFC 9113 §5.1, §6.9, §8.5).
@Suite struct ServerRulesTests {
    typealias Wire = WireFrames

    static let server = MachineSession.opened(.server)

    /// A server that has answered a GET on stream 1: both ends have ended the stream.
    static let answered: MachineSession = {
        var session = server
        session.receive(Wire.get(1))
        try? session.machine.send(session.list([(":status", "204")]), on: StreamID(1), endsStream: true)
        _ = (session.takeLines(), session.sent())
        return session
    }()

    static let tunnel = [(":method", "CONNECT"), (":authority", "a.example:443")]

    static let rows: [MachineRow] = [
        MachineRow(
            "[H-5.4] DATA on a stream that both ends have ended", answered, Wire.data(1, "a"),
            error: .unexpectedFrame(.data, StreamID(1), .streamClosed), last: 1),
        MachineRow(
            "[H-5.4] HEADERS on a stream that both ends have ended", answered, Wire.get(1),
            error: .unexpectedFrame(.headers, StreamID(1), .streamClosed), last: 1),
        MachineRow(
            "[H-5.5] WINDOW_UPDATE, RST_STREAM and PRIORITY on a closed stream", answered,
            Wire.window(1, 9) + Wire.reset(1) + Wire.frame(2, on: 1, [0, 0, 0, 0, 0]) + Wire.ping(),
            "sent PING 1 ack"),
        MachineRow(
            "[H-5.6] HEADERS after RST_STREAM", server,
            Wire.post(1) + Wire.reset(1) + Wire.headers(1, [("a", "b")], end: true) + Wire.get(3),
            "request 1 POST /", "reset 1 CANCEL", "request 3 GET /", "end 3",
            "sent RST_STREAM 1 STREAM_CLOSED"),
        MachineRow(
            "[H-5.6] DATA after RST_STREAM is answered once", server,
            Wire.post(1) + Wire.reset(1) + Wire.data(1, "a") + Wire.data(1, "b", end: true) + Wire.get(3),
            "request 1 POST /", "reset 1 CANCEL", "request 3 GET /", "end 3",
            "sent RST_STREAM 1 STREAM_CLOSED"),
        MachineRow(
            "[H-6.14] more DATA than the connection has room for", server,
            Wire.post(1) + Wire.post(3) + Wire.times(2, Wire.data(1, count: 16_384))
                + Wire.times(2, Wire.data(3, count: 16_384)),
            "request 1 POST /", "request 3 POST /", "content 1 of 32768", "content 3 of 16384",
            error: .flowControl(.exceeded(window: 16_383, count: 16_384), .connection), last: 3),
        MachineRow(
            "[H-6.14] more DATA than the stream has room for",
            MachineSession.opened(.server, window: 1 << 20),
            Wire.post(1) + Wire.times(4, Wire.data(1, count: 16_384)) + Wire.ping(),
            "request 1 POST /", "content 1 of 49152",
            "failed 1 FLOW_CONTROL_ERROR: 16384 octets came into a flow-control window of 16383",
            "sent RST_STREAM 1 FLOW_CONTROL_ERROR", "sent PING 1 ack"),
        MachineRow(
            "[H-6.16] the connection's window overflows", server, Wire.get(1) + Wire.window(0, 0x7FFF_FFFF),
            "request 1 GET /", "end 1",
            error: .flowControl(.overflow(window: 65_535, increment: 0x7FFF_FFFF), .connection), last: 1),
        MachineRow(
            "[H-6.16] a stream's window overflows", server,
            Wire.post(1) + Wire.window(1, 0x7FFF_FFFF) + Wire.ping(), "request 1 POST /",
            "failed 1 FLOW_CONTROL_ERROR: 2147483647 more octets take a flow-control window of 65535 over its largest "
                + "size", "sent RST_STREAM 1 FLOW_CONTROL_ERROR", "sent PING 1 ack"),
        MachineRow(
            "[H-6.16] SETTINGS let a stream's window overflow", server,
            Wire.get(1) + Wire.window(1, 0x7FFF_FFFF - 65_535) + Wire.settings((4, 65_536)),
            "request 1 GET /", "end 1",
            error: .flowControl(.overflow(window: 0x7FFF_FFFF, increment: 1), StreamID(1)), last: 1),
        MachineRow(
            "[H-8.11] trailers after the content of a tunnel", server,
            Wire.headers(1, tunnel) + Wire.data(1, "x") + Wire.headers(1, [("a", "b")], end: true),
            "request 1 CONNECT a.example:443", "content 1 'x'",
            "failed 1 PROTOCOL_ERROR: \(MessageError.misplacedHeaders)", "sent RST_STREAM 1 PROTOCOL_ERROR"),
        MachineRow(
            "[H-8.11] the end of a tunnel", server, Wire.headers(1, tunnel) + Wire.data(1, "x", end: true),
            "request 1 CONNECT a.example:443", "content 1 'x'", "end 1"),
        MachineRow(
            "[H-7.1] a stream that is reset with an unknown code", server,
            Wire.post(1) + Wire.reset(1, 0x1234_5678) + Wire.ping(), "request 1 POST /",
            "reset 1 error code 305419896", "sent PING 1 ack"),
        MachineRow(
            "[H-7.1] GOAWAY with an unknown code", MachineSession.opened(.client, gets: 2),
            Wire.goAway(1, 0xFFFF_FFFF) + Wire.response(1, end: true),
            "goaway 1 error code 4294967295 ''", "refused 3", "response 1 200", "end 1"),
    ]

    @Test(arguments: rows) func row(_ row: MachineRow) { row.check() }

    @Test("[H-6.17] SETTINGS_INITIAL_WINDOW_SIZE of the client may make windows negative")
    func negativeWindow() throws {
        var session = Self.server
        session.receive(Wire.get(1) + Wire.get(3))
        try session.machine.send(session.list([(":status", "200")]), on: StreamID(1), endsStream: false)
        _ = try session.send([UInt8](repeating: 1, count: 1_000), on: 1)
        _ = session.takeLines()
        session.receive(Wire.settings((4, 100)))
        #expect(session.machine.sendRoom(of: StreamID(1)) == 0)
        #expect(session.machine.sendRoom(of: StreamID(3)) == 100)
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

    @Test("[H-6.17] SETTINGS_INITIAL_WINDOW_SIZE of the server changes its receive windows")
    func ownInitialWindow() {
        var session = MachineSession.opened(.server, window: 1 << 20)
        session.receive(Wire.post(1))
        var settings = session.machine.settings
        settings.initialWindowSize = 100_000
        session.machine.change(settings, at: .zero)
        _ = (session.takeLines(), session.sent())
        session.receive(Wire.times(6, Wire.data(1, count: 16_384)) + Wire.settingsAck)
        #expect(session.takeLines() == ["content 1 of 98304", "settings acknowledged"])
        settings.initialWindowSize = 1_000
        session.machine.change(settings, at: .zero)
        session.receive(Wire.settingsAck)
        session.machine.consumed(98_304, on: StreamID(1))
        _ = (session.takeLines(), session.sent())
        session.receive(Wire.data(1, count: 1_000) + Wire.data(1, count: 1))
        #expect(
            session.takeLines() == [
                "content 1 of 1000",
                "failed 1 FLOW_CONTROL_ERROR: 1 octets came into a flow-control window of 0",
            ])
        #expect(session.machine.receiveRoom > 900_000)
    }
}
