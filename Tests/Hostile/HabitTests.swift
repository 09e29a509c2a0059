// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import LupineHTTP
import LupineLoading
import LupineOrigin
import Testing

/// Deviations of servers that are not attacks: valid content is delivered, the rest is an error, and the next request is served.
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

    /// Returns a habit that is tolerated.
    private static func fine(_ name: String, _ content: String, _ steps: Script.Step..., keeps: Bool = false)
        -> Habit
    {
        Habit(testDescription: name, steps: steps, content: content, connections: keeps ? 1 : 2)
    }

    /// Returns a habit that is an error.
    private static func wrong(_ name: String, _ code: URLError.Code, _ steps: Script.Step...) -> Habit {
        Habit(testDescription: name, steps: steps, code: code)
    }

    private static let flood = String(repeating: "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", count: 32)
    private static let manyFields = (0..<300).map { "X-Many-\($0): \($0)\r\n" }.joined()

    static let habits: [Habit] = [
        fine("no header fields at all", "hello", .send("\(ok)\r\nhello"), .close),
        fine("HTTP/1.0 without fields", "hello", .send("HTTP/1.0 200 OK\r\n\r\nhello"), .close),
        fine(
            "HTTP/1.0 that keeps its connection", "hello",
            .send("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\nhello"), keeps: true),
        fine("no reason", "hello", .send("HTTP/1.1 200\r\nContent-Length: 5\r\n\r\nhello"), keeps: true),
        fine("bare line feeds", "hello", .send("HTTP/1.1 200 OK\nContent-Length: 5\n\nhello"), keeps: true),
        fine(
            "a folded field", "hello", .send("\(ok)X: a\r\n b\r\nContent-Length: 5\r\n\r\nhello"), keeps: true
        ),
        fine(
            "a field of 8 KiB", "hello",
            .send("\(ok)X: \(String(repeating: "w", count: 8_192))\r\nContent-Length: 5\r\n\r\nhello"),
            keeps: true),
        fine("300 fields", "hello", .send("\(ok)\(manyFields)Content-Length: 5\r\n\r\nhello"), keeps: true),
        fine(
            "a head byte by byte", "hello",
            .sendByteByByte(Array("\(ok)Content-Length: 5\r\n\r\nhello".utf8)), keeps: true),
        fine(
            "chunks byte by byte", "hello",
            .sendByteByByte(
                Array("\(ok)Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n".utf8)),
            keeps: true),
        fine(
            "a head that drips", "hello",
            .send("HTTP/1.1 2"), .pause(.milliseconds(5)), .send("00 OK\r\nContent-Le"),
            .pause(.milliseconds(5)),
            .send("ngth: 5\r\n\r"), .pause(.milliseconds(5)), .send("\nhello"), keeps: true),
        fine(
            "thirty-two informational heads", "hello", .send("\(flood)\(ok)Content-Length: 5\r\n\r\nhello"),
            keeps: true),
        fine(
            "Connection: close, and a connection that stays open", "hello",
            .send("\(ok)Connection: close\r\nContent-Length: 5\r\n\r\nhello"), .stall),
        fine(
            "keep-alive, and a connection that is closed", "hello",
            .send("\(ok)Content-Length: 5\r\nKeep-Alive: timeout=60\r\n\r\nhello"), .close),
        fine(
            "a length that is too short", "hello", .send("\(ok)Content-Length: 5\r\n\r\nhello, world"), .stall
        ),
        fine(
            "a line end behind the content", "hello", .send("\(ok)Content-Length: 5\r\n\r\nhello\r\n"), .stall
        ),
        fine(
            "garbage behind the content", "hello",
            .send("\(ok)Content-Length: 5\r\n\r\nhello\0\u{1}\u{2}garbage"), .stall),
        fine(
            "another answer behind the content", "hello",
            .send("\(ok)Content-Length: 5\r\n\r\nhello\(SplittingCase.forged)"), .stall),
        fine(
            "garbage behind the last chunk", "hello",
            .send("\(ok)Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\ngarbage"), .stall),
        wrong(
            "a length that is too long", .networkConnectionLost,
            .send("\(ok)Content-Length: 50\r\n\r\nhello"), .close),
        wrong(
            "an end in a chunk", .networkConnectionLost,
            .send("\(ok)Transfer-Encoding: chunked\r\n\r\n50\r\nhello"), .close),
        wrong(
            "an end behind a chunk", .networkConnectionLost,
            .send("\(ok)Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"), .close),
        wrong(
            "an end in the trailers", .networkConnectionLost,
            .send("\(ok)Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nA: "), .close),
        wrong("an end in the head", .networkConnectionLost, .send("\(ok)Content-Le"), .close),
        wrong("an end instead of a head", .networkConnectionLost, .close),
        wrong("a reset instead of a head", .networkConnectionLost, .reset),
        wrong(
            "half an answer and a reset", .networkConnectionLost,
            .send("\(ok)Content-Length: 50\r\n\r\nhello"), .waitForSignal("never mind"), .reset),
        wrong(
            "informational heads without end", .badServerResponse,
            .send("\(flood)HTTP/1.1 100 Continue\r\n\r\n\(ok)\r\n"), .stall),
        wrong(
            "more fields than anybody needs", .dataLengthExceedsMaximum,
            .send(ok + String(repeating: "A: b\r\n", count: 1_001) + "\r\n"), .stall),
        wrong(
            "a head without end", .dataLengthExceedsMaximum,
            .send(ok + String(repeating: "A: \(String(repeating: "b", count: 1_000))\r\n", count: 300)),
            .stall),
    ]

    @Test(
        "a habit of a server's, and the request behind it", .timeLimit(.minutes(10)), arguments: habits,
        [false, true])
    func habit(_ row: Habit, _ isSecure: Bool) async throws {
        let told: [Script.Step] = [.expectHead, .send("\(Self.ok)Content-Length: 4\r\n\r\nnext")]
        // After the habit, a server that has not closed its connection answers another request.
        let plan = ScriptPlan([Script([.expectHead] + row.steps + told + [.stall]), Script(told + [.stall])])
        try await HostileStage.with(plan, leaf: isSecure ? "good" : nil) { stage in
            stage.origin.gate("never mind").open()
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
