// SPDX-License-Identifier: MIT

import LupineHTTP2
import LupineOrigin
import LupineTestKit
import Testing

/// Tests of the known floods of HTTP/2, sent to an origin over a socket: a flood ends its connection with the corresponding error
/// code, an error in one message ends its stream, and other connections are still served.
@Suite struct HTTP2FloodTests {
    struct Flood: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let frames: ClientFrames
        var code = HTTP2ErrorCode.enhanceYourCalm
    }

    private static let post: [(String, String)] = [
        (":method", "POST"), (":scheme", "http"), (":authority", "a"), (":path", "/post"),
    ]
    private static let posting = ClientFrames().headers(1, post)

    private static func streams(
        _ count: UInt32, _ part: (ClientFrames, UInt32) -> ClientFrames
    ) -> ClientFrames {
        (0..<count).reduce(ClientFrames()) { part($0, 1 + 2 * $1) }
    }

    static let floods = [
        Flood(
            testDescription: "[H-11.1] CVE-2019-9511, data dribble: windows opened octet by octet",
            frames: ClientFrames([Setting(.initialWindowSize, 0)]).get(1, "/bytes/100000").times(30_000) {
                $0.frame(8, 1, [0, 0, 0, 1])
            }),
        Flood(
            testDescription: "[H-11.2] CVE-2019-9512, ping flood",
            frames: ClientFrames().times(20_000) { $0.frame(6, 0, [UInt8](repeating: 7, count: 8)) }),
        Flood(
            testDescription: "[H-11.3] CVE-2019-9513, resource loop: priorities shuffled",
            frames: ClientFrames().times(20_000) { $0.frame(2, 1, [0, 0, 0, 0, 1]) }),
        Flood(
            testDescription: "[H-11.4] CVE-2019-9514, reset flood: requests that have to be reset",
            frames: streams(3_000) { $0.headers($1, [(":method", "GET")], ends: true) }),
        Flood(
            testDescription: "[H-11.5] CVE-2019-9515, settings flood",
            frames: ClientFrames().times(20_000) { $0.frame(4) }),
        Flood(
            testDescription: "[H-11.8] CVE-2019-9518, empty frames: DATA",
            frames: posting.times(20_000) { $0.frame(0, 1) }),
        Flood(
            testDescription: "[H-11.8] CVE-2019-9518, empty frames: CONTINUATION",
            frames: ClientFrames().frame(1, 1, [0x82]).times(20_000) { $0.frame(9, 1) }),
        Flood(
            testDescription: "[H-11.9] CVE-2023-44487, rapid reset",
            frames: streams(3_000) { $0.get($1, "/delay/3600").frame(3, $1, [0, 0, 0, 8]) }),
        Flood(
            testDescription: "[H-11.10] CVE-2025-8671, resets provoked by WINDOW_UPDATE",
            frames: streams(3_000) { $0.get($1, "/delay/3600").frame(8, $1, [0, 0, 0, 0]) }),
        Flood(
            testDescription: "[H-11.11] CVE-2024-27316, CONTINUATION without an end",
            frames: ClientFrames().frame(1, 1, [0x82]).times(20_000) { $0.frame(9, 1, [0x82]) }),
        Flood(
            testDescription: "[H-11.14] frames of unknown types",
            frames: ClientFrames().times(20_000) { $0.frame(0x77) }),
        Flood(
            testDescription: "[H-11.15] nothing but padding",
            frames: posting.times(3_000) {
                $0.frame(0, flags: 8, 1, [255, 0x78] + [UInt8](repeating: 0, count: 255))
            }),
        Flood(
            testDescription: "[H-11.16] streams above the limit",
            frames: streams(3_000) { $0.headers($1, post) }),
    ]

    private static var serving: OriginConfiguration {
        var configuration = OriginConfiguration()
        configuration.http2 = HTTP2Behaviour()
        configuration.idleTimeout = .seconds(3_600)
        return configuration
    }

    @Test("a flood ends its connection and no other", arguments: floods)
    func endsTheConnection(_ flood: Flood) async throws {
        try await withOrigin(Self.serving) { origin in
            let other = try RawClient(port: origin.port)
            var heard = ServerHearing()
            try other.send(ClientFrames().get(1, "/get").octets)
            try heard.hear(other) { $0.ended.contains(1) }
            let flooding = try RawClient(port: origin.port)
            // An origin that has sent GOAWAY may close before it has read everything.
            try? flooding.send(flood.frames.octets)
            flooding.closeOurHalf()
            var last = ServerHearing()
            try? last.hear(flooding) { _ in false }
            #expect(last.farewell == flood.code)
            try other.send(ClientFrames.bare.get(3, "/get").octets)
            try heard.hear(other) { $0.ended.contains(3) }
            #expect(heard.farewell == nil)
        }
    }

    /// A header block for `/get` that adds nothing to the dynamic table.
    private static let plain: [UInt8] = [0x82, 0x86, 0x01, 1, 0x61, 0x04, 4] + Array("/get".utf8)

    static let malformed: [(String, HTTP2ErrorCode, [UInt8])] = [
        ("[H-11.6] CVE-2019-9516, names of no octets", .protocolError, plain + [0, 0, 0]),
        (
            "[H-11.6] CVE-2019-9516, more of them than a list may have", .enhanceYourCalm,
            plain + [UInt8](repeating: 0, count: 3 * 4_000)
        ),
        (
            "[H-11.12] CVE-2016-6581, HPACK bomb", .enhanceYourCalm,
            plain + [0x40, 1, 0x61, 0x7F, 0xB9, 0x16] + [UInt8](repeating: 0x61, count: 3_000)
                + [UInt8](repeating: 0xBE, count: 4_000)
        ),
    ]

    @Test("a header list that goes too far costs its stream", arguments: malformed.indices)
    func costsTheStream(_ index: Int) async throws {
        let (name, code, block) = Self.malformed[index]
        try await withOrigin(Self.serving) { origin in
            let client = try RawClient(port: origin.port)
            try client.send(ClientFrames().frame(1, flags: 5, 1, block).octets)
            var heard = ServerHearing()
            try heard.hear(client) { $0.resets[1] != nil }
            #expect(heard.resets[1] == code, "\(name)")
            // Literals only: the bomb has left entries in the table that this encoder does not have.
            try client.send(ClientFrames.bare.frame(1, flags: 5, 3, Self.plain).octets)
            try heard.hear(client) { $0.ended.contains(3) }
            #expect(heard.farewell == nil, "\(name)")
        }
    }

    /// CVE-2019-9517: the windows are open and the socket is not read. Checks that the origin produces no more of a body than it
    /// can send.
    @Test("[H-11.7] CVE-2019-9517, a client that opens its windows and reads nothing")
    func bufferedData() async throws {
        let widest = UInt32(FlowWindow.largest)
        var serving = Self.serving
        serving.socketBufferSize = 16 << 10
        try await withOrigin(serving) { origin in
            let client = try RawClient(port: origin.port, receiveBuffer: 4_096)
            let requests = (0..<50).reduce(ClientFrames([Setting(.initialWindowSize, widest)])) {
                $0.get(1 + 2 * $1, "/bytes/4000000")
            }
            try client.send(requests.frame(8, 0, [0x7F, 0xFE, 0, 0]).octets)
            while origin.counts.requests < 50 { await Task.yield() }
            let other = try RawClient(port: origin.port)
            try other.send(ClientFrames().get(1, "/get").octets)
            var heard = ServerHearing()
            try heard.hear(other) { $0.ended.contains(1) }
            // Of 200 MB, the contents of the kernel's two buffers and a piece for each stream.
            #expect(origin.counts.bytesSent < 8 << 20)
        }
    }
}

/// The octets that an HTTP/2 client sends, including invalid ones.
struct ClientFrames: Sendable {
    private(set) var octets: [UInt8] = []
    private var encoder = HPACKEncoder(tableSizeLimit: 0)

    /// Creates frames that begin with the preface and these settings.
    init(_ settings: [Setting] = []) {
        octets = FrameReader.clientPreface
        FrameWriter.settings(settings, into: &octets)
    }

    /// Frames without the preface.
    static var bare: ClientFrames {
        var frames = ClientFrames()
        frames.octets = []
        return frames
    }

    /// Adds a request without content.
    func get(_ stream: UInt32, _ path: String) -> ClientFrames {
        headers(
            stream,
            [(":method", "GET"), (":scheme", "http"), (":authority", "a"), (":path", path)], ends: true)
    }

    /// Adds HEADERS with any list of fields.
    func headers(_ stream: UInt32, _ fields: [(String, String)], ends: Bool = false) -> ClientFrames {
        adding { frames in
            var list = HeaderList()
            for (name, value) in fields { list.append(name, value, indexing: .without) }
            var block: [UInt8] = []
            frames.encoder.encode(list, into: &block)
            FrameWriter.headers(
                StreamID(stream), block: block.span, endsStream: ends, maximumFrameSize: 16_384,
                into: &frames.octets)
        }
    }

    /// Adds any frame, of a known or an unknown type.
    func frame(
        _ type: UInt8, flags: UInt8 = 0, _ stream: UInt32 = 0, _ payload: [UInt8] = []
    ) -> ClientFrames {
        adding { frames in
            FrameWriter.header(
                FrameType(rawValue: type), length: payload.count, flags: FrameFlags(rawValue: flags),
                StreamID(stream), into: &frames.octets)
            frames.octets += payload
        }
    }

    /// Adds that many times what `part` adds, which must not contain a header block.
    func times(_ count: Int, _ part: (ClientFrames) -> ClientFrames) -> ClientFrames {
        let one = part(.bare).octets
        return adding { frames in
            for _ in 0..<count { frames.octets += one }
        }
    }

    private func adding(_ change: (inout ClientFrames) -> Void) -> ClientFrames {
        var frames = self
        change(&frames)
        return frames
    }
}

/// The frames that a client has received from an origin: which streams have ended, and why.
struct ServerHearing {
    private(set) var ended: Set<UInt32> = []
    private(set) var resets: [UInt32: HTTP2ErrorCode] = [:]
    /// The code of the last GOAWAY.
    private(set) var farewell: HTTP2ErrorCode?
    private var octets: [UInt8] = []

    /// Receives until `isEnough` returns true, or until the end of the connection.
    mutating func hear(_ client: RawClient, until isEnough: (ServerHearing) -> Bool) throws {
        while true {
            while takeFrame() {}
            if isEnough(self) { return }
            let piece = try client.receive()
            if piece.isEmpty { return }
            octets += piece
        }
    }

    private mutating func takeFrame() -> Bool {
        guard octets.count >= 9 else { return false }
        let length = Int(octets[0]) << 16 | Int(octets[1]) << 8 | Int(octets[2])
        guard octets.count >= 9 + length else { return false }
        let (type, flags) = (octets[3], octets[4])
        let stream = Self.number(octets[5..<9]) & 0x7FFF_FFFF
        let payload = Array(octets[9..<9 + length])
        octets.removeFirst(9 + length)
        switch type {
        case 0, 1: if flags & 1 == 1 { ended.insert(stream) }
        case 3: resets[stream] = HTTP2ErrorCode(rawValue: Self.number(payload[...]))
        case 7: farewell = HTTP2ErrorCode(rawValue: Self.number(payload[4..<8]))
        default: break
        }
        return true
    }

    private static func number(_ octets: ArraySlice<UInt8>) -> UInt32 {
        octets.reduce(0) { $0 << 8 | UInt32($1) }
    }
}
