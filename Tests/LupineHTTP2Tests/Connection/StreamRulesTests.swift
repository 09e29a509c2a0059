// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineHTTP2
import Testing

/// Tests of the frames that are allowed on a stream in each state (RFC 9113 §5.1, §6.1 to §6.4, §6.6 and §8.1).
@Suite struct StreamRulesTests {
    typealias Wire = WireFrames

    static let server = MachineSession.opened(.server)
    /// A client that has sent a GET on stream 1 and the head of a POST on stream 3.
    static let client = MachineSession.opened(.client, gets: 1, posts: 1)

    static func server(maxConcurrentStreams: Int) -> MachineSession {
        var settings = HTTP2Settings()
        settings.maxConcurrentStreams = maxConcurrentStreams
        return MachineSession.opened(.server, settings: settings)
    }

    /// A client that has cancelled the GET on stream 1.
    static let cancelled: MachineSession = {
        var session = client
        session.machine.reset(StreamID(1), .cancel)
        _ = session.sent()
        return session
    }()

    static let messages: [MachineRow] = [
        MachineRow("[H-8.1] a request", server, Wire.get(1), "request 1 GET /", "end 1"),
        MachineRow(
            "a request with content and trailers", server,
            Wire.post(1) + Wire.data(1, "Hel") + Wire.data(1, "lo")
                + Wire.headers(1, [("x-sum", "5")], end: true),
            "request 1 POST /", "content 1 'Hello'", "end 1 1 trailers"),
        MachineRow(
            "[H-8.1] interim heads, a head, content, the end", client,
            Wire.response(1, 103) + Wire.response(1, 200) + Wire.data(1, "Hi", end: true),
            "interim 1 103", "response 1 200", "content 1 'Hi'", "end 1"),
        MachineRow(
            "responses in any order", client,
            Wire.response(3) + Wire.response(1, end: true) + Wire.data(3, "x", end: true),
            "response 3 200", "response 1 200", "end 1", "content 3 'x'", "end 3"),
        MachineRow(
            "[H-8.2] a malformed response is a stream error", client,
            Wire.headers(1, [(":status", "200"), ("Upper", "x")]) + Wire.response(3),
            "failed 1 PROTOCOL_ERROR: \(MessageError.capitalInName(Excerpt("Upper")))", "response 3 200",
            "sent RST_STREAM 1 PROTOCOL_ERROR"),
        MachineRow(
            "[H-8.2] a malformed response that ends its stream", client,
            Wire.headers(1, [("a", "b")], end: true) + Wire.response(1) + Wire.response(3),
            "failed 1 PROTOCOL_ERROR: :status is missing", "response 3 200",
            "sent RST_STREAM 1 PROTOCOL_ERROR"),
        MachineRow(
            "a response over a limit that ends its stream", client,
            Wire.frame(1, 5, on: 1, Wire.times(1_001, [0x88])) + Wire.response(3),
            "failed 1 ENHANCE_YOUR_CALM: header fields (fieldCount) exceed the limit of 1000",
            "response 3 200",
            "sent RST_STREAM 1 ENHANCE_YOUR_CALM"),
        MachineRow(
            "malformed trailers", client,
            Wire.response(1) + Wire.headers(1, [(":status", "200")], end: true), "response 1 200",
            "failed 1 PROTOCOL_ERROR: \":status\" does not belong into such a message",
            "sent RST_STREAM 1 PROTOCOL_ERROR"),
        MachineRow(
            "[H-8.2] a malformed request is a stream error", server,
            Wire.headers(1, [(":method", "GET")], end: true) + Wire.get(3),
            "failed 1 PROTOCOL_ERROR: :scheme is missing", "request 3 GET /", "end 3",
            "sent RST_STREAM 1 PROTOCOL_ERROR"),
        MachineRow(
            "[H-8.3] more content than announced", client,
            Wire.response(1, 200, [("content-length", "3")]) + Wire.data(1, "ab") + Wire.data(1, "cd"),
            "response 1 200", "content 1 'abc'",
            "failed 1 PROTOCOL_ERROR: 3 octets of content were announced, 4 came",
            "sent RST_STREAM 1 PROTOCOL_ERROR"),
        MachineRow(
            "[H-8.3] less content than announced", client,
            Wire.response(1, 200, [("content-length", "3")]) + Wire.data(1, "ab", end: true),
            "response 1 200", "content 1 'ab'",
            "failed 1 PROTOCOL_ERROR: 3 octets of content were announced, 2 came",
            "sent RST_STREAM 1 PROTOCOL_ERROR"),
        MachineRow(
            "[H-8.3] no content although some was announced", server,
            Wire.headers(1, Wire.postFields + [("content-length", "3")], end: true),
            "failed 1 PROTOCOL_ERROR: 3 octets of content were announced, 0 came",
            "sent RST_STREAM 1 PROTOCOL_ERROR"),
        MachineRow(
            "content before a head", client, Wire.data(1, "ab"),
            "failed 1 PROTOCOL_ERROR: content came where none may stand",
            "sent RST_STREAM 1 PROTOCOL_ERROR"),
        MachineRow(
            "trailers that do not end the stream", server, Wire.post(1) + Wire.headers(1, [("a", "b")]),
            "request 1 POST /", "failed 1 PROTOCOL_ERROR: trailers do not end the stream",
            "sent RST_STREAM 1 PROTOCOL_ERROR"),
        MachineRow(
            "[H-8.4] a response before the request has ended, and then NO_ERROR", client,
            Wire.response(3, 413, end: true) + Wire.reset(3, 0), "response 3 413", "end 3", "reset 3 NO_ERROR"
        ),
    ]

    static let states: [MachineRow] = [
        MachineRow(
            "[H-5.1] DATA on an idle stream", server, Wire.data(1, "a"),
            error: .unexpectedFrame(.data, StreamID(1), .protocolError)),
        MachineRow(
            "[H-5.1] RST_STREAM on an idle stream", server, Wire.reset(1),
            error: .unexpectedFrame(.rstStream, StreamID(1), .protocolError)),
        MachineRow(
            "[H-5.1] WINDOW_UPDATE on an idle stream", client, Wire.window(5, 1),
            error: .unexpectedFrame(.windowUpdate, StreamID(5), .protocolError)),
        MachineRow(
            "[H-5.1] a response on a stream that was not opened", client, Wire.response(5),
            error: .unexpectedFrame(.headers, StreamID(5), .protocolError)),
        MachineRow(
            "[H-5.2] a server opens a stream", client, Wire.response(2),
            error: .unexpectedFrame(.headers, StreamID(2), .protocolError)),
        MachineRow(
            "[H-5.2] a client opens a stream that only a server can open", server, Wire.get(2),
            error: .unexpectedFrame(.headers, StreamID(2), .protocolError)),
        MachineRow(
            "[H-5.2] a stream below one that was opened", server, Wire.get(5) + Wire.get(3),
            "request 5 GET /", "end 5", error: .unexpectedFrame(.headers, StreamID(3), .protocolError),
            last: 5),
        MachineRow(
            "RST_STREAM on a stream that was passed over", server, Wire.get(5) + Wire.reset(3),
            "request 5 GET /", "end 5", error: .unexpectedFrame(.rstStream, StreamID(3), .protocolError),
            last: 5),
        MachineRow(
            "PRIORITY on a stream that was passed over", server,
            Wire.get(5) + Wire.frame(2, on: 3, [0, 0, 0, 0, 0]), "request 5 GET /", "end 5"),
        MachineRow(
            "[H-5.3] HEADERS after the peer's end", server, Wire.get(1) + Wire.get(1), "request 1 GET /",
            "end 1", "failed 1 STREAM_CLOSED: HEADERS came behind the end of the stream (STREAM_CLOSED)",
            "sent RST_STREAM 1 STREAM_CLOSED"),
        MachineRow(
            "[H-5.3] DATA after the peer's end", client, Wire.response(3, end: true) + Wire.data(3, "a"),
            "response 3 200", "end 3",
            "failed 3 STREAM_CLOSED: DATA came behind the end of the stream (STREAM_CLOSED)",
            "sent RST_STREAM 3 STREAM_CLOSED"),
        MachineRow(
            "[H-5.4] DATA on a stream that both ends have ended", client,
            Wire.response(1, end: true) + Wire.data(1, "a"), "response 1 200", "end 1",
            error: .unexpectedFrame(.data, StreamID(1), .streamClosed)),
        MachineRow(
            "[H-5.4] HEADERS on a stream that both ends have ended", client,
            Wire.response(1, end: true) + Wire.response(1), "response 1 200", "end 1",
            error: .unexpectedFrame(.headers, StreamID(1), .streamClosed)),
        MachineRow(
            "[H-5.5] WINDOW_UPDATE, RST_STREAM and PRIORITY on a closed stream", client,
            Wire.response(1, end: true) + Wire.window(1, 9) + Wire.reset(1)
                + Wire.frame(2, on: 1, [0, 0, 0, 0, 0]), "response 1 200", "end 1"),
        MachineRow(
            "[H-5.6] HEADERS after RST_STREAM", client, Wire.reset(1) + Wire.response(1), "reset 1 CANCEL",
            "sent RST_STREAM 1 STREAM_CLOSED"),
        MachineRow(
            "[H-5.6] DATA after RST_STREAM is answered once", client,
            Wire.reset(1) + Wire.data(1, "a") + Wire.data(1, "b"), "reset 1 CANCEL",
            "sent RST_STREAM 1 STREAM_CLOSED"),
        MachineRow(
            "[H-5.7] frames on a stream that was cancelled are ignored", cancelled,
            Wire.response(1) + Wire.data(1, "abc") + Wire.window(1, 1) + Wire.reset(1) + Wire.response(3),
            "response 3 200"),
        MachineRow(
            "[H-5.7] more DATA on a cancelled stream than its window allowed", cancelled,
            Wire.response(1) + Wire.times(4, Wire.data(1, count: 16_000)) + Wire.data(1, count: 1_536),
            "sent WINDOW_UPDATE 0 +48000", error: .unexpectedFrame(.data, StreamID(1), .streamClosed)),
    ]

    /// Returns a request whose block uses the dynamic table: `inserts` adds an entry, `finds` refers to it.
    static func indexedRequest(_ stream: UInt32, _ block: String) -> [UInt8] {
        Wire.frame(1, 5, on: stream, Octets.hex("82 86 84") + Octets.hex(block))
    }
    static let inserts = "41 01 61"
    static let finds = "be"

    static let refusals: [MachineRow] = [
        MachineRow(
            "[H-5.8] one stream too many is refused, and its block still decoded",
            server(maxConcurrentStreams: 1),
            Wire.post(1) + indexedRequest(3, inserts) + Wire.data(1, end: true) + Wire.data(3, "late")
                + Wire.window(3, 1)
                + Wire.reset(1) + indexedRequest(5, finds),
            "request 1 POST /", "end 1", "reset 1 CANCEL", "request 5 GET /", "end 5",
            "sent RST_STREAM 3 REFUSED_STREAM"),
        MachineRow(
            "[H-5.8] a stream that its client has ended counts until it is answered",
            server(maxConcurrentStreams: 1),
            Wire.get(1) + Wire.get(3), "request 1 GET /", "end 1", "sent RST_STREAM 3 REFUSED_STREAM"),
        MachineRow(
            "[H-4.4] the block of a malformed message is decoded", client,
            Wire.frame(1, 4, on: 1, Octets.hex("40 01 61 01 62"))
                + Wire.frame(1, 4, on: 3, Octets.hex("88 be")),
            "failed 1 PROTOCOL_ERROR: :status is missing", "response 3 200",
            "sent RST_STREAM 1 PROTOCOL_ERROR"),
        MachineRow(
            "[H-4.4] the block of a cancelled stream is decoded", cancelled,
            Wire.frame(1, 4, on: 1, Octets.hex("88 40 01 61 01 62"))
                + Wire.frame(1, 4, on: 3, Octets.hex("88 be")),
            "response 3 200"),
        MachineRow(
            "[H-4.4] the block of a list over a limit is decoded", server,
            indexedRequest(1, inserts + "10 01 62 7f 82 ff 03" + String(repeating: "63", count: 65_537))
                .framed(by: 16_384) + indexedRequest(3, finds),
            "failed 1 ENHANCE_YOUR_CALM: octets of a header name or value (stringOctets) exceed the limit of 65536",
            "request 3 GET /", "end 3", "sent RST_STREAM 1 ENHANCE_YOUR_CALM"),
        MachineRow(
            "[H-4.3] a block that cannot be decoded", server, indexedRequest(1, "be"),
            error: .compression(.invalidIndex(62))),
        MachineRow(
            "[H-6.7] PUSH_PROMISE to a client", client, Wire.frame(5, 4, on: 1, [0, 0, 0, 2]),
            error: .frame(.pushNotAllowed)),
        MachineRow(
            "[H-6.7] PUSH_PROMISE to a server", server, Wire.post(1) + Wire.frame(5, 4, on: 1, [0, 0, 0, 2]),
            "request 1 POST /", error: .frame(.pushNotAllowed), last: 1),
        MachineRow(
            "[H-6.3] PRIORITY of a wrong length is a stream error", server,
            Wire.post(1) + Wire.frame(2, on: 1, [0, 0, 0, 0]), "request 1 POST /",
            "failed 1 FRAME_SIZE_ERROR: PRIORITY cannot have 4 octets", "sent RST_STREAM 1 FRAME_SIZE_ERROR"),
        MachineRow(
            "PRIORITY of a wrong length on an idle stream", server, Wire.frame(2, on: 1, [0, 0, 0, 0]),
            error: .frame(.wrongLength(.priority, length: 4))),
        MachineRow(
            "PRIORITY of a wrong length on a closed stream", cancelled,
            Wire.frame(2, on: 1, [0, 0, 0, 0])),
        MachineRow(
            "[H-6.3] PRIORITY is ignored on any stream", server,
            Wire.frame(2, on: 9, [0, 0, 0, 0, 0]) + Wire.get(1),
            "request 1 GET /", "end 1"),
        MachineRow(
            "[H-6.12] another frame inside a header block", server,
            Wire.frame(1, 1, on: 1, Wire.block(Wire.requestFields)) + Wire.ping(),
            error: .frame(.headerBlockInterrupted(StreamID(1), by: .ping, on: .connection))),
        MachineRow(
            "[H-6.12] CONTINUATION of another stream", server,
            Wire.frame(1, 1, on: 1, []) + Wire.frame(9, 4, on: 3, []),
            error: .frame(.headerBlockInterrupted(StreamID(1), by: .continuation, on: StreamID(3)))),
        MachineRow(
            "[H-6.12] CONTINUATION without a header block", server, Wire.get(1) + Wire.frame(9, 4, on: 1, []),
            "request 1 GET /", "end 1", error: .frame(.unexpectedContinuation(StreamID(1))), last: 1),
        MachineRow(
            "[H-6.12] a block in CONTINUATION frames", server, Wire.get(1).framed(by: 7), "request 1 GET /",
            "end 1"),
    ]

    @Test(arguments: messages) func message(_ row: MachineRow) { row.check() }
    @Test(arguments: states) func state(_ row: MachineRow) { row.check() }
    @Test(arguments: refusals) func refusal(_ row: MachineRow) { row.check() }

    @Test("[H-5.7] the memory of cancelled streams and the frames tolerated on them are limited")
    func memoryOfStreams() throws {
        var limits = HTTP2Limits()
        limits.rememberedStreams = 4
        limits.lateFrames = Allowance(atOnce: 10, perSecond: 0)
        var session = MachineSession.opened(.client, limits: limits, gets: 10)
        for stream in session.machine.openStreams { session.machine.reset(stream, .cancel) }
        _ = session.sent()
        // Stream 1 is forgotten, stream 19 is remembered: frames on both are ignored.
        session.receive(
            Wire.response(1) + Wire.response(19) + Wire.data(19, count: 1_000) + Wire.window(1, 1))
        session.receive(Wire.times(9, Wire.data(1, count: 1_000)))
        #expect(session.takeLines() == [])
        session.receive(Wire.data(1, count: 1_000))
        #expect(session.machine.error == .limitExceeded(.lateFrames, allowed: 10))
    }

    @Test("[H-5.7] responses that arrive on many cancelled streams") func manyCancelled() {
        var session = MachineSession.opened(.client)
        for _ in 0..<20 {
            for _ in 0..<200 { session.openPost() }
            let streams = session.machine.openStreams
            for stream in streams { session.machine.reset(stream, .cancel) }
            for stream in streams {
                session.receive(Wire.response(stream.rawValue, 103) + Wire.response(stream.rawValue))
                session.receive(
                    Wire.data(stream.rawValue, "x") + Wire.headers(stream.rawValue, [("a", "b")], end: true))
            }
            _ = session.takeOutput()
        }
        #expect(session.takeLines() == [])
        // On a single stream, fewer late frames are tolerated.
        session.openPost()
        let stream = session.machine.openStreams[0]
        session.machine.reset(stream, .cancel)
        session.receive(Wire.times(1_016, Wire.response(stream.rawValue, 103)))
        #expect(session.machine.error == nil)
        session.receive(Wire.response(stream.rawValue, 103))
        #expect(session.machine.error == .limitExceeded(.lateFrames, allowed: 1_000))
    }

    @Test func anEndedStreamIsNotForgotten() {
        // The forgotten streams, which were reset, have lower numbers than those that ended.
        var limits = HTTP2Limits()
        limits.rememberedStreams = 1
        var session = MachineSession.opened(.client, limits: limits, gets: 4)
        for stream in [1, 3] as [UInt32] { session.machine.reset(StreamID(stream), .cancel) }
        session.receive(Wire.response(5, end: true) + Wire.response(7, end: true) + Wire.response(1))
        #expect(session.machine.error == nil)
        session.receive(Wire.response(5))
        #expect(session.machine.error == .unexpectedFrame(.headers, StreamID(5), .streamClosed))
    }
}

extension [UInt8] {
    /// Divides a HEADERS frame into HEADERS and CONTINUATION frames with at most `length` octets of payload each.
    func framed(by length: Int) -> [UInt8] {
        let stream = UInt32(self[5]) << 24 | UInt32(self[6]) << 16 | UInt32(self[7]) << 8 | UInt32(self[8])
        let (flags, block) = (self[4], dropFirst(9))
        var frames: [UInt8] = []
        var rest = block
        while !rest.isEmpty {
            let isFirst = rest.count == block.count
            let piece = Array(rest.prefix(length))
            rest = rest.dropFirst(length)
            let own = isFirst ? flags & ~4 : 0
            frames += WireFrames.frame(isFirst ? 1 : 9, own | (rest.isEmpty ? 4 : 0), on: stream, piece)
        }
        return frames
    }
}
