// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineHTTP2
import LupineOrigin
import LupineTestKit
import Testing

@testable import LupineTransport

/// Servers that break the protocol or flood their client, through the whole stack: the error names the rule or the limit, and
/// other connections stay open.
@Suite struct HTTP2MisbehaviourTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let frames: ServerFrames
        let code: HTTP2ErrorCode
        /// Text that the error must contain.
        let reason: String
    }

    static let rows = [
        Row(
            testDescription: "HTTP/1.1", frames: ServerFrames.http1, code: .protocolError,
            reason: "the first frame is"),
        Row(
            testDescription: "PUSH_PROMISE",
            frames: ServerFrames().frame(5, flags: 4, 1, [0, 0, 0, 2, 0x88]), code: .protocolError,
            reason: "PUSH_PROMISE"),
        Row(
            testDescription: "DATA on an idle stream", frames: ServerFrames().data(7, "x"),
            code: .protocolError, reason: "stream 7"),
        Row(
            testDescription: "a malformed header block",
            frames: ServerFrames().frame(1, flags: 4, 1, [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]),
            code: .compressionError, reason: ""),
        Row(
            testDescription: "a frame that is too long",
            frames: ServerFrames().frame(0, 1, [UInt8](repeating: 0, count: 16_385)), code: .frameSizeError,
            reason: "DATA has 16385 octets"),
        Row(
            testDescription: "CVE-2019-9512, pings", frames: ServerFrames().times(20_000) { $0.ping() },
            code: .enhanceYourCalm, reason: "pings"),
        Row(
            testDescription: "CVE-2019-9515, settings",
            frames: ServerFrames().times(20_000) { $0.settings() }, code: .enhanceYourCalm, reason: "settings"
        ),
        Row(
            testDescription: "CVE-2019-9518, empty DATA",
            frames: ServerFrames().head().times(20_000) { $0.data(1, []) }, code: .enhanceYourCalm,
            reason: "emptyData"),
        Row(
            testDescription: "CVE-2019-9513, priorities",
            frames: ServerFrames().times(20_000) { $0.frame(2, 1, [0, 0, 0, 0, 1]) },
            code: .enhanceYourCalm, reason: "priorities"),
        Row(
            testDescription: "CVE-2019-9511, windows octet by octet",
            frames: ServerFrames().times(30_000) { $0.frame(8, 0, [0, 0, 0, 1]) }, code: .enhanceYourCalm,
            reason: "windowUpdates"),
        Row(
            testDescription: "frames of unknown types",
            frames: ServerFrames().times(20_000) { $0.frame(0x77) }, code: .enhanceYourCalm,
            reason: "ignoredFrames"),
        Row(
            testDescription: "CVE-2024-27316, CONTINUATION",
            frames: ServerFrames().frame(1, 1, [0x88]).times(1_000) { $0.frame(9, 1, [0x88]) },
            code: .enhanceYourCalm, reason: "CONTINUATION"),
        Row(
            testDescription: "CVE-2019-9518, empty CONTINUATION",
            frames: ServerFrames().frame(1, 1, [0x88]).times(1_000) { $0.frame(9, 1) },
            code: .enhanceYourCalm, reason: "emptyContinuationFrames"),
        Row(
            testDescription: "CVE-2024-27316, a header block without an end",
            frames: ServerFrames().frame(1, 1, [0x88]).times(60) {
                $0.frame(9, 1, [UInt8](repeating: 0x88, count: 16_384))
            }, code: .enhanceYourCalm, reason: "headerBlockOctets"),
        Row(
            testDescription: "padding",
            frames: ServerFrames().head().times(3_000) {
                $0.frame(0, flags: 8, 1, [255, 0x78] + [UInt8](repeating: 0, count: 255))
            }, code: .enhanceYourCalm, reason: "paddingOctets"),
    ]

    @Test(arguments: rows) func endsTheConnectionAndIsNamedInTheError(_ row: Row) async throws {
        let plan = ScriptPlan(.expectRequest(1), .send(row.frames), .stall)
        try await withPool(plan, over: .http2, clock: ManualClock()) { stage in
            let sink = try await stage.send(.post)
            guard case .http2("origin.test", _, .connection(let code, let reason))? = sink.failure else {
                Issue.record("\(String(describing: sink.failure))")
                return
            }
            #expect(code == row.code && reason.contains(row.reason), "\(code): \(reason)")
            await stage.settle()
            #expect(stage.pool.openCount == 0)
        }
    }

    @Test("[H-5.11] the server receives GOAWAY before the connection is closed") func goAwayPrecedesTheClose()
        async throws
    {
        let plan = ScriptPlan(
            .expectRequest(1), .send(ServerFrames().data(7, "x")), .expectFrame(type: 7, stream: 0),
            .expectEnd,
            .signal("heard"))
        try await withPool(plan, over: .http2) { stage in
            let sink = try await stage.send(.post)
            #expect(sink.failure != nil)
            await stage.origin.gate("heard").wait()
        }
    }

    static let malformed: [(String, ServerFrames)] = [
        ("no status", ServerFrames().headers(1, [("server", "x")], ends: true)),
        ("capitals", ServerFrames().head(1, "200", [("Server", "x")], ends: true)),
        (
            "a field about the connection",
            ServerFrames().head(1, "200", [("connection", "close")], ends: true)
        ),
        ("101", ServerFrames().head(1, "101")),
        (
            "too much content",
            ServerFrames().head(1, "200", [("content-length", "1")]).data(1, "xx", ends: true)
        ),
        (
            "too little content",
            ServerFrames().head(1, "200", [("content-length", "3")]).data(1, "xx", ends: true)
        ),
        ("a name of no octets (CVE-2019-9516)", ServerFrames().frame(1, flags: 5, 1, [0x88, 0, 0, 0])),
        (
            "thousands of empty names (CVE-2019-9516)",
            ServerFrames().frame(1, flags: 5, 1, [0x88] + [UInt8](repeating: 0, count: 12_000))
        ),
        ("a line break", ServerFrames().head(1, "200", [("x", "a\r\nb: c")], ends: true)),
        (
            "a list that expands (CVE-2016-6581)",
            ServerFrames().frame(1, flags: 4, 1, expanding)
        ),
    ]

    private static let overLimits = [
        "thousands of empty names (CVE-2019-9516)", "a list that expands (CVE-2016-6581)",
    ]

    /// A field of 3,000 octets that enters the table, and 4,000 references to it.
    private static var expanding: [UInt8] {
        [0x88, 0x40, 7] + Array("x-large".utf8) + [0x7F, 0xB9, 0x16] + [UInt8](repeating: 0x61, count: 3_000)
            + [UInt8](repeating: 0xBE, count: 4_000)
    }

    @Test(arguments: malformed.indices) func aMalformedResponseEndsOnlyItsStream(_ index: Int) async throws {
        let (name, frames) = Self.malformed[index]
        let plan = ScriptPlan(
            .expectRequest(1), .send(frames), .expectRequest(3), .send(ServerFrames.bare.reply(3)),
            .stall)
        try await withPool(plan, over: .http2) { stage in
            let sink = try await stage.send()
            switch sink.failure {
            case .http2("origin.test", _, .stream): #expect(!Self.overLimits.contains(name), "\(name)")
            // The same error as over HTTP/1.1.
            case .http("origin.test", _, .limitExceeded): #expect(Self.overLimits.contains(name), "\(name)")
            default: Issue.record("\(name): \(String(describing: sink.failure))")
            }
            #expect(try await stage.send().text == "ok", "\(name)")
            #expect(stage.pool.connectionsOpened == 1)
        }
    }

    @Test func aFloodEndsOnlyItsConnection() async throws {
        let flood = ServerFrames().times(20_000) { $0.ping() }
        let plan = ScriptPlan([
            Script([
                .expectRequest(1), .send(ServerFrames()), .waitForSignal("go"),
                .send(ServerFrames.bare.reply()), .stall,
            ]),
            Script([.expectRequest(1), .send(flood), .stall]),
        ])
        try await withPool(plan, over: .http2) { stage in
            let other = try stage.exchange(host: "other.test")
            stage.pool.submit(other.exchange)
            while stage.origin.counts.connectionsOpen == 0 { await Task.yield() }
            let sink = try await stage.send(.post)
            guard case .http2(_, _, .connection(.enhanceYourCalm, _))? = sink.failure else {
                Issue.record("\(String(describing: sink.failure))")
                return
            }
            stage.origin.gate("go").open()
            await other.sink.ended.wait()
            #expect(other.sink.failure == nil && other.sink.text == "ok")
        }
    }
}

extension ServerFrames {
    /// The response of a server that speaks only HTTP/1.1.
    fileprivate static var http1: ServerFrames {
        bare.raw(Array("HTTP/1.1 505 HTTP Version Not Supported\r\n\r\n".utf8))
    }
}
