// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import LupineHTTP
import LupineLoading
import LupineOrigin
import Testing

/// Deviations of servers that are not attacks: content is delivered or an error reported, and the next request gets its response.
@Suite struct HabitTests {
    /// A deviation of a server.
    struct Habit: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let steps: [Script.Step]
        /// The content that is delivered.
        var content: String?
        /// The error that is reported instead.
        var code: URLError.Code?
        /// The number of connections after a second request: one if the first connection is reused.
        var connections = 2
    }

    private static let ok = "HTTP/1.1 200 OK\r\n"

    /// Returns a habit in spite of which the content is delivered.
    private static func tolerated(
        _ name: String, _ content: String, _ steps: Script.Step..., isReused: Bool = false
    )
        -> Habit
    {
        Habit(testDescription: name, steps: steps, content: content, connections: isReused ? 1 : 2)
    }

    /// Returns a habit that makes the request fail.
    private static func failing(_ name: String, _ code: URLError.Code, _ steps: Script.Step...) -> Habit {
        Habit(testDescription: name, steps: steps, code: code)
    }

    private static let flood = String(repeating: "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", count: 32)
    private static let manyFields = (0..<300).map { "X-Many-\($0): \($0)\r\n" }.joined()

    static let habits: [Habit] = [
        tolerated("no header fields at all", "hello", .send("\(ok)\r\nhello"), .close),
        tolerated("HTTP/1.0 without fields", "hello", .send("HTTP/1.0 200 OK\r\n\r\nhello"), .close),
        tolerated(
            "HTTP/1.0 with keep-alive", "hello",
            .send("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\nhello"),
            isReused: true),
        tolerated(
            "no reason", "hello", .send("HTTP/1.1 200\r\nContent-Length: 5\r\n\r\nhello"), isReused: true),
        tolerated(
            "bare line feeds", "hello", .send("HTTP/1.1 200 OK\nContent-Length: 5\n\nhello"), isReused: true),
        tolerated(
            "a folded field", "hello", .send("\(ok)X: a\r\n b\r\nContent-Length: 5\r\n\r\nhello"),
            isReused: true
        ),
        tolerated(
            "a field of 8 KiB", "hello",
            .send("\(ok)X: \(String(repeating: "w", count: 8_192))\r\nContent-Length: 5\r\n\r\nhello"),
            isReused: true),
        tolerated(
            "300 fields", "hello", .send("\(ok)\(manyFields)Content-Length: 5\r\n\r\nhello"), isReused: true),
        tolerated(
            "a head byte by byte", "hello",
            .sendByteByByte(Array("\(ok)Content-Length: 5\r\n\r\nhello".utf8)), isReused: true),
        tolerated(
            "chunks byte by byte", "hello",
            .sendByteByByte(
                Array("\(ok)Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n".utf8)),
            isReused: true),
        tolerated(
            "a head in pieces with pauses", "hello",
            .send("HTTP/1.1 2"), .pause(.milliseconds(5)), .send("00 OK\r\nContent-Le"),
            .pause(.milliseconds(5)),
            .send("ngth: 5\r\n\r"), .pause(.milliseconds(5)), .send("\nhello"), isReused: true),
        tolerated(
            "thirty-two informational heads", "hello", .send("\(flood)\(ok)Content-Length: 5\r\n\r\nhello"),
            isReused: true),
        tolerated(
            "Connection: close, and a connection that stays open", "hello",
            .send("\(ok)Connection: close\r\nContent-Length: 5\r\n\r\nhello"), .stall),
        tolerated(
            "keep-alive, and a connection that is closed", "hello",
            .send("\(ok)Content-Length: 5\r\nKeep-Alive: timeout=60\r\n\r\nhello"), .close),
        tolerated(
            "a length that is too short", "hello", .send("\(ok)Content-Length: 5\r\n\r\nhello, world"), .stall
        ),
        tolerated(
            "a line end after the content", "hello", .send("\(ok)Content-Length: 5\r\n\r\nhello\r\n"), .stall
        ),
        tolerated(
            "garbage after the content", "hello",
            .send("\(ok)Content-Length: 5\r\n\r\nhello\0\u{1}\u{2}garbage"), .stall),
        tolerated(
            "another response after the content", "hello",
            .send("\(ok)Content-Length: 5\r\n\r\nhello\(SplittingCase.forged)"), .stall),
        tolerated(
            "garbage after the last chunk", "hello",
            .send("\(ok)Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\ngarbage"), .stall),
        failing(
            "a length that is too long", .networkConnectionLost,
            .send("\(ok)Content-Length: 50\r\n\r\nhello"), .close),
        failing(
            "an end in a chunk", .networkConnectionLost,
            .send("\(ok)Transfer-Encoding: chunked\r\n\r\n50\r\nhello"), .close),
        failing(
            "an end after a chunk", .networkConnectionLost,
            .send("\(ok)Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"), .close),
        failing(
            "an end in the trailers", .networkConnectionLost,
            .send("\(ok)Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nA: "), .close),
        failing("an end in the head", .networkConnectionLost, .send("\(ok)Content-Le"), .close),
        failing("an end instead of a head", .networkConnectionLost, .close),
        failing("a reset instead of a head", .networkConnectionLost, .reset),
        failing(
            "half a response and a reset", .networkConnectionLost,
            .send("\(ok)Content-Length: 50\r\n\r\nhello"), .waitForSignal("may reset"), .reset),
        failing(
            "informational heads without end", .badServerResponse,
            .send("\(flood)HTTP/1.1 100 Continue\r\n\r\n\(ok)\r\n"), .stall),
        failing(
            "more fields than the limit", .dataLengthExceedsMaximum,
            .send(ok + String(repeating: "A: b\r\n", count: 1_001) + "\r\n"), .stall),
        failing(
            "a head without end", .dataLengthExceedsMaximum,
            .send(ok + String(repeating: "A: \(String(repeating: "b", count: 1_000))\r\n", count: 300)),
            .stall),
    ]

    @Test(
        "a deviation of a server, and the request after it", .timeLimit(.minutes(10)), arguments: habits,
        [false, true])
    func habit(_ row: Habit, _ isSecure: Bool) async throws {
        let nextResponse: [Script.Step] = [.expectHead, .send("\(Self.ok)Content-Length: 4\r\n\r\nnext")]
        // After the habit, a server that has not closed its connection answers another request.
        let plan = ScriptPlan([
            Script([.expectHead] + row.steps + nextResponse + [.stall]), Script(nextResponse + [.stall]),
        ])
        try await HostileStage.with(plan, leaf: isSecure ? "good" : nil) { stage in
            stage.origin.gate("may reset").open()
            let host = isSecure ? "127.0.0.1" : "origin.test"
            let first = await stage.session.request(stage.url("/first", host: host)).answered()
            if let content = row.content {
                #expect(first.error == nil)
                #expect(first.data.map { String(decoding: $0, as: UTF8.self) } == content)
            } else {
                #expect((first.error?.underlyingError as? URLError)?.code == row.code)
            }
            let second = await stage.session.request(stage.url("/second", host: host)).answered()
            #expect(second.data.map { String(decoding: $0, as: UTF8.self) } == "next")
            #expect(stage.origin.counts.connectionsAccepted == row.connections)
        }
    }
}
