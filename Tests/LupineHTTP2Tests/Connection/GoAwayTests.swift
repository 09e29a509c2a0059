// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineHTTP2
import Testing

/// Tests of GOAWAY in both directions, of opening streams, and of priorities (RFC 9113 §5.1.2 and §6.8, RFC 9218 §7.1).
@Suite struct GoAwayTests {
    typealias Wire = WireFrames

    static let client = MachineSession.opened(.client, gets: 3)
    static let server = MachineSession.opened(.server)

    /// A server that has accepted stream 1 and announced that it accepts no more streams.
    static let leaving: MachineSession = {
        var session = server
        session.receive(Wire.post(1))
        session.machine.shutDown()
        _ = (session.takeLines(), session.sent())
        return session
    }()

    static func prioritized(_ streamLimit: Int) -> MachineSession {
        StreamRulesTests.server(maxConcurrentStreams: streamLimit)
    }

    static let rows: [MachineRow] = [
        MachineRow(
            "[H-6.18] streams above the last one are refused", client,
            Wire.goAway(3, 0, "bye") + Wire.response(1, end: true) + Wire.response(3),
            "goaway 3 NO_ERROR 'bye'", "refused 5", "response 1 200", "end 1", "response 3 200"),
        MachineRow(
            "[H-6.18] a graceful shutdown in two steps", client,
            Wire.goAway(0x7FFF_FFFF) + Wire.goAway(1, 11),
            "goaway 2147483647 NO_ERROR ''", "goaway 1 ENHANCE_YOUR_CALM ''", "refused 3", "refused 5"),
        MachineRow(
            "a response on a stream that was refused", client, Wire.goAway(3) + Wire.response(5),
            "goaway 3 NO_ERROR ''", "refused 5", "sent RST_STREAM 5 STREAM_CLOSED"),
        MachineRow(
            "[H-6.18] a GOAWAY that raises the last stream", client, Wire.goAway(1) + Wire.goAway(3),
            "goaway 1 NO_ERROR ''", "refused 3", "refused 5",
            error: .goAwayRaised(StreamID(3), after: StreamID(1))),
        MachineRow(
            "a client that shuts down", server, Wire.get(1) + Wire.goAway(0) + Wire.get(3), "request 1 GET /",
            "end 1",
            "goaway 0 NO_ERROR ''", "request 3 GET /", "end 3"),
        MachineRow(
            "[H-6.19] a server that shuts down ignores further streams", leaving,
            Wire.get(3) + Wire.data(3, "late") + Wire.reset(3) + Wire.data(1, "ab", end: true),
            "content 1 'ab'", "end 1"),
        MachineRow(
            "[H-6.19] the block of an ignored stream is decoded into the table", leaving,
            Wire.frame(1, 5, on: 3, [0x82, 0x86, 0x84, 0x01, 0x01, 0x61, 0x40, 0x01, 0x61, 0x01, 0x62])
                + Wire.frame(1, 5, on: 1, [0xBE]),
            "end 1 1 trailers"),
        MachineRow(
            "[H-6.19] content on an ignored stream is returned to the connection's window", leaving,
            Wire.post(3) + Wire.times(2, Wire.data(3, count: 16_384)), "sent WINDOW_UPDATE 0 +32768"),
        MachineRow(
            "[H-9.1] the priority of an open stream", server, Wire.post(1) + Wire.priorityUpdate(1, "u=1"),
            "request 1 POST /", "priority 1 'u=1'"),
        MachineRow(
            "[H-9.1] the priority of a stream that is opened later", server,
            Wire.priorityUpdate(5, "u=1") + Wire.priorityUpdate(3, "u=2") + Wire.priorityUpdate(5, "u=3, i")
                + Wire.get(5) + Wire.get(7), "priority 5 'u=3, i'", "request 5 GET /", "end 5",
            "request 7 GET /", "end 7"),
        MachineRow(
            "the priority of a closed stream", server,
            Wire.get(1) + Wire.reset(1) + Wire.priorityUpdate(1, "u=1"), "request 1 GET /", "end 1",
            "reset 1 CANCEL"),
        MachineRow(
            "[H-9.2] priorities of more streams than may be open", prioritized(2),
            Wire.post(1) + Wire.priorityUpdate(3, "u=1") + Wire.priorityUpdate(5, "u=1"), "request 1 POST /",
            error: .priorityOfUnknownStream(StreamID(5)), last: 1),
        MachineRow(
            "[H-9.2] the priority of a stream that only a server can open", server,
            Wire.priorityUpdate(2, "u=1"),
            error: .priorityOfUnknownStream(StreamID(2))),
        MachineRow(
            "[H-9.2] PRIORITY_UPDATE to a client", client, Wire.priorityUpdate(1, "u=1"),
            error: .frame(.priorityUpdateFromServer)),
        MachineRow(
            "[H-9.2] PRIORITY_UPDATE of stream 0", server, Wire.priorityUpdate(0, "u=1"),
            error: .frame(.priorityUpdateOfConnection)),
    ]

    @Test(arguments: rows) func row(_ row: MachineRow) { row.check() }

    @Test("[H-9.2] a lower limit of streams applies to priorities once it is acknowledged")
    func loweredLimit() {
        var session = Self.prioritized(2)
        var settings = HTTP2Settings()
        settings.maxConcurrentStreams = 1
        session.machine.change(settings, at: .zero)
        session.receive(Wire.priorityUpdate(1, "u=1") + Wire.priorityUpdate(3, "u=2"))
        #expect(session.takeLines() == [])
        session.receive(Wire.settingsAck + Wire.priorityUpdate(3, "u=3"))
        #expect(session.takeLines() == ["settings acknowledged"])
        session.receive(Wire.priorityUpdate(5, "u=1"))
        let error = HTTP2ConnectionError.priorityOfUnknownStream(StreamID(5))
        #expect(session.takeLines() == ["PROTOCOL_ERROR: \(error)"])
    }

    @Test("[H-9.2] a higher limit of streams applies to priorities at once") func raisedLimit() {
        var limits = HTTP2Limits()
        limits.openStreams = 2
        var session = MachineSession.opened(.server, limits: limits)
        var settings = HTTP2Settings()
        settings.maxConcurrentStreams = 200
        session.machine.change(settings, at: .zero)
        func prioritize(_ streams: Range<UInt32>) {
            for number in streams { session.receive(Wire.priorityUpdate(1 + 2 * number, "u=1")) }
        }
        prioritize(0..<150)
        #expect(session.takeLines() == [])
        // After the limit is removed, as many streams as before may have priorities.
        session.receive(Wire.settingsAck)
        session.machine.change(HTTP2Settings(), at: .zero)
        prioritize(150..<200)
        #expect(session.takeLines() == ["settings acknowledged"])
    }

    @Test("[H-6.19] a server shuts down in two steps") func twoSteps() {
        var session = Self.server
        session.receive(Wire.post(1))
        session.machine.announceShutdown()
        session.machine.announceShutdown()
        session.receive(Wire.post(3))
        #expect(!session.machine.isDrained)
        session.machine.shutDown()
        session.machine.shutDown()
        session.machine.announceShutdown()
        session.receive(Wire.post(5))
        #expect(session.sent() == ["sent GOAWAY 2147483647 NO_ERROR", "sent GOAWAY 3 NO_ERROR"])
        #expect(session.takeLines() == ["request 1 POST /", "request 3 POST /"])
        session.receive(Wire.reset(1) + Wire.reset(3))
        #expect(session.machine.isDrained)
        // The last stream identifier never rises again, not even with an error.
        session.receive(Wire.settingsAck)
        #expect(session.sent() == ["sent GOAWAY 3 PROTOCOL_ERROR"])
    }

    @Test func aClientShutsDown() throws {
        var session = MachineSession.opened(.client, gets: 1)
        session.machine.announceShutdown()
        #expect(session.sent() == ["sent GOAWAY 0 NO_ERROR"])
        #expect(throws: HTTP2SendError.connectionShuttingDown) { try session.machine.requireRoomForStream() }
        session.receive(Wire.response(1, end: true))
        #expect(session.machine.isDrained)
    }

    @Test("[H-6.18] no stream is opened after the peer's GOAWAY") func noStreamAfterGoAway() {
        var session = MachineSession.opened(.client, gets: 1)
        #expect(!session.machine.isDrained)
        session.receive(Wire.goAway(1))
        #expect(throws: HTTP2SendError.connectionShuttingDown) { try session.machine.requireRoomForStream() }
        session.receive(Wire.response(1, end: true))
        #expect(session.machine.isDrained)
    }

    @Test("[H-5.9] no more streams than the peer allows") func concurrency() throws {
        var limits = HTTP2Limits()
        limits.openStreams = 3
        var session = MachineSession.opened(.client, limits: limits)
        let list = session.list(Wire.requestFields)
        func open() throws { _ = try session.machine.open(list, method: .get, endsStream: true) }
        session.receive(Wire.settings((3, 2)))
        try open()
        try open()
        #expect(throws: HTTP2SendError.tooManyStreams(allowed: 2)) { try open() }
        session.receive(Wire.settings((3, 1)) + Wire.response(1, end: true))
        #expect(throws: HTTP2SendError.tooManyStreams(allowed: 1)) { try open() }
        session.receive(Wire.settings((3, 9)))
        try open()
        try open()
        #expect(throws: HTTP2SendError.tooManyStreams(allowed: 3)) { try open() }
        #expect(session.machine.openStreams == [3, 5, 7].map { StreamID($0) })
        #expect(session.machine.streamCount == 3)
    }

    @Test("[H-5.9] at most 100 streams before the peer's settings arrive") func streamsAtFirst() {
        var session = MachineSession(.client)
        for _ in 0..<300 { session.openPost() }
        #expect(session.machine.streamCount == 100)
        session.receive(Wire.settings)
        for _ in 0..<300 { session.openPost() }
        #expect(session.machine.streamCount == 256)
    }

    @Test func aServerOpensNoStreams() {
        var session = Self.server
        #expect(throws: HTTP2SendError.connectionShuttingDown) {
            try session.machine.open(HeaderList(), method: .get, endsStream: true)
        }
        session.machine.sendPriority("u=1".utf8.span, of: StreamID(1))
        #expect(session.sent() == [])
    }

    struct PriorityRow: CustomTestStringConvertible {
        let testDescription: String
        let wire: [UInt8]
        var stream: UInt32 = 1
        let isSent: Bool
    }

    @Test(
        "[H-9.4] a client sends priorities only to servers that use them, and only of its open streams",
        arguments: [
            PriorityRow(testDescription: "before the server's settings", wire: [], isSent: true),
            PriorityRow(
                testDescription: "a server that uses priorities", wire: Wire.settings((9, 1)), isSent: true),
            PriorityRow(
                testDescription: "a server without the setting", wire: Wire.settings((3, 9)), isSent: false),
            PriorityRow(
                testDescription: "a server that disables priorities", wire: Wire.settings((9, 0)),
                isSent: false),
            PriorityRow(
                testDescription: "a stream that this end has not opened", wire: Wire.settings((9, 1)),
                stream: 3, isSent: false),
            PriorityRow(
                testDescription: "a response that has begun", wire: Wire.settings((9, 1)) + Wire.response(1),
                isSent: true),
            PriorityRow(
                testDescription: "a response that has ended",
                wire: Wire.settings((9, 1)) + Wire.response(1, end: true), isSent: false),
        ])
    func ownPriority(_ row: PriorityRow) {
        var session = MachineSession(.client)
        session.openPost()
        if !row.wire.isEmpty { session.receive(row.wire) }
        _ = session.sent()
        session.machine.sendPriority("u=1, i".utf8.span, of: StreamID(row.stream))
        #expect(session.sent() == (row.isSent ? ["sent PRIORITY_UPDATE \(row.stream) 'u=1, i'"] : []))
    }

    @Test("[H-10.5] a header list over the peer's limit is not sent") func headerListSize() throws {
        var session = MachineSession.opened(.client)
        session.receive(Wire.settings((6, 200)))
        _ = session.sent()
        var list = session.list(Wire.requestFields)
        #expect(list.size == 32 * 4 + 7 + 3 + 7 + 4 + 10 + 1 + 5 + 1)
        _ = try session.machine.open(list, method: .get, endsStream: false)
        list.append("a", "b")
        #expect(throws: HTTP2SendError.headerListTooLarge(200, allowed: 199)) {
            session.receive(Wire.settings((6, 199)))
            return try session.machine.open(list, method: .get, endsStream: true)
        }
        #expect(throws: HTTP2SendError.headerListTooLarge(200, allowed: 199)) {
            try session.machine.send(list, on: StreamID(1), endsStream: true)
        }
        #expect(session.sent().filter { $0.contains("HEADERS") }.count == 1)
    }
}
