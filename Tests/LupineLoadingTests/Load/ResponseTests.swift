// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineOrigin
import LupineTestKit
import LupineTransport
import Testing

@testable import LupineLoading

/// Tests of what a load reports of a response: heads, pieces, demand, ends.
@Suite struct ResponseTests {
    /// A small body that arrives whole is one piece, however it is framed.
    @Test(
        arguments: [
            "Content-Length: 6\r\n\r\nabcdef",
            "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n4\r\ncdef\r\n0\r\n\r\n",
        ], TestedHTTP.allCases)
    func oneTurnIsOnePiece(_ rest: String, over testedHTTP: TestedHTTP) async throws {
        try await withLoads(
            ScriptPlan(.expectHead, .send("HTTP/1.1 200 OK\r\n" + rest), .stall), over: testedHTTP
        ) { stage in
            let log = try await stage.send()
            #expect(log.pieces.map { String(decoding: $0, as: UTF8.self) } == ["abcdef"])
            #expect(log.order == ["response", "data", "end"] && log.error == nil && log.overlaps == 0)
        }
    }

    /// Checks that pieces that arrive separately are not merged, and each is passed on as it arrives.
    @Test(arguments: TestedHTTP.allCases) func separateReadsAreSeparatePieces(over testedHTTP: TestedHTTP)
        async throws
    {
        let plan = ScriptPlan(
            .expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc"), .waitForSignal("more"),
            .send("def"), .stall)
        try await withLoads(plan, over: testedHTTP) { stage in
            let client = RecordingHopClient()
            stage.load(HopRequest(request: try stage.request()), client).start()
            await client.dataReceived.wait()
            stage.origin.gate("more").open()
            let log = await client.end()
            #expect(log.pieces.map { String(decoding: $0, as: UTF8.self) } == ["abc", "def"])
        }
    }

    /// U-7.2: no piece is larger.
    @Test(arguments: TestedHTTP.allCases) func largeBodiesComeInPiecesOfAtMost64KiB(
        over testedHTTP: TestedHTTP
    )
        async throws
    {
        let body = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        try await withLoads(ScriptPlan(.expectHead, .reply(body), .stall), over: testedHTTP) { stage in
            let log = try await stage.send()
            #expect(log.body == Data(body))
            #expect(log.pieces.allSatisfy { (1...64 * 1024).contains($0.count) })
            #expect(log.metrics?.bodyBytesAfterDecoding == 1_000_000)
        }
    }

    struct Head: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var method = "GET"
        let wire: String
        var status: Int?
        var length: Int64 = -1
        var body = ""
        var code: URLError.Code?
    }

    /// Checks what a load reports of the head, and of the length of the content.
    @Test(arguments: [
        Head(
            testDescription: "[U-2.3] a length", wire: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
            status: 200,
            length: 2, body: "ok"),
        Head(
            testDescription: "[U-2.3] chunked content has no length",
            wire: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", status: 200,
            body: "ok"),
        Head(
            testDescription: "[U-2.3] HEAD has the length of the field", method: "HEAD",
            wire: "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n", status: 200, length: 7),
        Head(
            testDescription: "[U-9.7] 204", wire: "HTTP/1.1 204 No Content\r\n\r\n", status: 204),
        Head(
            testDescription: "[U-9.7] 304 with a length",
            wire: "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n",
            status: 304, length: 9),
        Head(
            testDescription: "[U-9.7] 205 with a body",
            wire: "HTTP/1.1 205 Reset Content\r\nContent-Length: 2\r\n\r\nno",
            status: 205, length: 2),
        Head(
            testDescription: "[U-9.5] three digits", wire: "HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n",
            status: 999,
            length: 0),
        Head(
            testDescription: "[U-9.5] no reason", wire: "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n",
            status: 200,
            length: 0),
        Head(testDescription: "[U-9.5] two digits", wire: "HTTP/1.1 20 OK\r\n\r\n", code: .badServerResponse),
        Head(testDescription: "[U-9.5] no status", wire: "HTTP/1.1\r\n\r\n", code: .badServerResponse),
        Head(testDescription: "[U-9.5] not HTTP", wire: "hello, world\r\n\r\n", code: .badServerResponse),
        Head(
            testDescription: "[U-9.6] an unrequested 101",
            wire: "HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n",
            code: .badServerResponse),
        Head(
            testDescription: "[U-9.8] different lengths",
            wire: "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nok",
            code: .badServerResponse),
        Head(
            testDescription: "[U-9.8] a negative length",
            wire: "HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nok", code: .badServerResponse),
        Head(
            testDescription: "[U-9.8] an invalid length",
            wire: "HTTP/1.1 200 OK\r\nContent-Length: 0x2\r\n\r\nok", code: .badServerResponse),
        Head(
            testDescription: "[U-9.8] chunked is not the last coding",
            wire: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\n\r\n2\r\nok\r\n0\r\n\r\n",
            code: .badServerResponse),
        Head(
            testDescription: "[U-9.8] extensions and trailers are no content",
            wire: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;a=b\r\nok\r\n0;c\r\nT: 1\r\n\r\n",
            status: 200, body: "ok"),
        Head(
            testDescription: "[U-9.5] HTTP/1.0", wire: "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
            status: 200, length: 2, body: "ok"),
        Head(
            testDescription: "[U-9.5] a head of more than 256 KiB",
            wire: "HTTP/1.1 200 OK\r\n"
                + String(repeating: "A: \(String(repeating: "b", count: 1020))\r\n", count: 260) + "\r\n",
            code: .dataLengthExceedsMaximum),
        Head(
            testDescription: "[U-9.5] more than a thousand fields",
            wire: "HTTP/1.1 200 OK\r\n" + String(repeating: "A: b\r\n", count: 1001) + "\r\n",
            code: .dataLengthExceedsMaximum),
    ])
    func heads(_ row: Head) async throws {
        try await withLoads(ScriptPlan(.expectHead, .send(row.wire), .stall)) { stage in
            let log = try await stage.send(method: row.method)
            #expect(log.error?.code == row.code)
            #expect(log.response?.statusCode == row.status)
            if row.status != nil { #expect(log.response?.expectedContentLength == row.length) }
            #expect(log.text == row.body && log.ends == 1)
        }
    }

    @Test(
        "[U-9.6] up to 32 informational responses are reported one by one", arguments: [1, 32, 33],
        TestedHTTP.allCases)
    func interimHeads(_ count: Int, over testedHTTP: TestedHTTP) async throws {
        let hints = String(repeating: "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", count: count)
        let plan = ScriptPlan(
            .expectHead, .send(hints + "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), .stall)
        try await withLoads(plan, over: testedHTTP) { stage in
            let log = try await stage.send()
            if count <= 32 {
                #expect(log.interim == Array(repeating: 103, count: count) && log.response?.statusCode == 200)
                #expect(log.order == ["interim", "response", "end"])
            } else {
                #expect(log.error != nil && log.response == nil)
            }
        }
    }

    /// U-2.2 (repeated lines), and the URL without a password.
    @Test(arguments: TestedHTTP.allCases) func theResponseItself(over testedHTTP: TestedHTTP) async throws {
        let plan = ScriptPlan(
            .expectHead, .reply("", "X-A: 1\r\nx-a: 2\r\nSet-Cookie: a=b\r\nSet-Cookie: c=d\r\n"), .stall)
        try await withLoads(plan, over: testedHTTP) { stage in
            var request = try stage.request()
            request.url = URL(string: "http://me:secret@origin.test:\(stage.origin.port)/p?q#f")
            let log = await stage.send(HopRequest(request: request))
            #expect(log.response?.value(forHTTPHeaderField: "X-A") == "1, 2")
            #expect(log.response?.fields?.values(of: .setCookie) == ["a=b", "c=d"])
            #expect(log.response?.url?.absoluteString == "http://origin.test:\(stage.origin.port)/p?q#f")
            #expect(!stage.wire().contains("secret"))
        }
    }

    @Test(
        "[U-9.9] received content is delivered before the error",
        arguments: [
            "Content-Length: 6\r\n\r\nabc", "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
        ], TestedHTTP.allCases)
    func cutShort(_ rest: String, over testedHTTP: TestedHTTP) async throws {
        try await withLoads(
            ScriptPlan(.expectHead, .send("HTTP/1.1 200 OK\r\n" + rest), .close), over: testedHTTP
        ) { stage in
            let log = try await stage.send()
            #expect(log.error?.code == .networkConnectionLost && log.text == "abc")
        }
    }

    @Test("[U-9.8, U-9.9] a body that ends with the connection is complete", arguments: TestedHTTP.allCases)
    func endedByTheConnection(over testedHTTP: TestedHTTP) async throws {
        try await withLoads(
            ScriptPlan(.expectHead, .send("HTTP/1.1 200 OK\r\n\r\nabc"), .close), over: testedHTTP
        ) { stage in
            let log = try await stage.send()
            #expect(log.error == nil && log.text == "abc" && log.response?.expectedContentLength == -1)
        }
    }

    // MARK: demand

    @Test(arguments: [true, false], TestedHTTP.allCases) func aClientThatPauses(
        _ atHead: Bool, over testedHTTP: TestedHTTP
    ) async throws {
        let body = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 / 5) }
        try await withLoads(ScriptPlan(.expectHead, .reply(body), .stall), over: testedHTTP) { stage in
            let paused = Gate()
            let client = RecordingHopClient(
                plan: { _ in atHead ? .pause : .deliver },
                demand: { _ in
                    if atHead { return .more }
                    paused.open()
                    return .pause
                })
            let load = stage.load(HopRequest(request: try stage.request()), client)
            load.start()
            if atHead { await client.responseReceived.wait() } else { await paused.wait() }
            // At most one piece arrives while the load is paused.
            #expect(client.currentLog.body.count <= (atHead ? 0 : 64 * 1024) && client.currentLog.ends == 0)
            while !client.isOver {
                load.resumeReading()
                await Task.yield()
            }
            let log = await client.end()
            #expect(log.body == Data(body) && log.error == nil && log.overlaps == 0)
        }
    }

    @Test(arguments: TestedHTTP.allCases) func skippedAtTheHead(over testedHTTP: TestedHTTP) async throws {
        let plan = ScriptPlan(.expectHead, .reply("long"), .expectHead, .reply("second"), .stall)
        try await withLoads(plan, over: testedHTTP) { stage in
            let log = try await stage.send(RecordingHopClient(plan: { _ in .skip }))
            #expect(log.error == nil && log.text == "")
            #expect(try await stage.send().text == "second")
        }
    }

    /// A redirect that is followed: its load pauses at the head, and the rest is skipped.
    @Test(arguments: TestedHTTP.allCases) func skippedAfterAPause(over testedHTTP: TestedHTTP) async throws {
        let plan = ScriptPlan(
            .expectHead, .reply("moved", status: "302 Found"), .expectHead, .reply("second"), .stall)
        try await withLoads(plan, over: testedHTTP) { stage in
            let client = RecordingHopClient(plan: { _ in .pause })
            let load = stage.load(HopRequest(request: try stage.request()), client)
            load.start()
            await client.responseReceived.wait()
            load.skip()
            let log = await client.end()
            #expect(log.error == nil && log.text == "" && log.response?.statusCode == 302)
            #expect(try await stage.send().text == "second")
        }
    }

    @Test(arguments: TestedHTTP.allCases) func enoughInTheMiddle(over testedHTTP: TestedHTTP) async throws {
        let plan = ScriptPlan(
            .expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 900000000\r\n\r\nabc"), .expectEnd)
        try await withLoads(plan, over: testedHTTP) { stage in
            let log = try await stage.send(RecordingHopClient(demand: { _ in .enough }))
            #expect(log.error == nil && log.text == "abc")
        }
    }

    // MARK: into a file

    @Test(arguments: [false, true], [false, true])
    func intoAFile(_ isCoded: Bool, _ pauses: Bool) async throws {
        let body = (0..<500_000).map { UInt8(truncatingIfNeeded: $0 / 3) }
        let sent = isCoded ? try CodedBodies.gzip(body) : body
        let url = FileManager.default.temporaryDirectory.appending(path: "lupine-load-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: url) }
        let plan = ScriptPlan(
            .expectHead, .reply(sent, isCoded ? "Content-Encoding: gzip\r\n" : ""), .expectHead,
            .reply("second"),
            .stall)
        try await withLoads(plan) { stage in
            let target = FileTarget(try Descriptor.writing(path: url.path))
            let client = RecordingHopClient(
                plan: { _ in .splice(into: target) }, demand: { _ in pauses ? .pause : .more })
            let load = stage.load(HopRequest(request: try stage.request()), client)
            load.start()
            while pauses, !client.isOver {
                load.resumeReading()
                await Task.yield()
            }
            let log = await client.end()
            #expect(log.error == nil && log.spliced == body.count && log.pieces.isEmpty)
            #expect(try Data(contentsOf: url) == Data(body))
            #expect(log.metrics?.bodyBytesAfterDecoding == Int64(body.count))
            #expect(try await stage.send().text == "second")
        }
    }

    /// U-7.11: a file that cannot be written.
    @Test(arguments: [false, true], TestedHTTP.allCases) func anUnwritableFile(
        _ isCoded: Bool, over testedHTTP: TestedHTTP
    ) async throws {
        let body = [UInt8](repeating: 7, count: 200_000)
        let sent = isCoded ? try CodedBodies.gzip(body) : body
        let plan = ScriptPlan(.expectHead, .reply(sent, isCoded ? "Content-Encoding: gzip\r\n" : ""), .stall)
        try await withLoads(plan, over: testedHTTP) { stage in
            let target = FileTarget(try Descriptor.writing(path: "/dev/full"))
            let log = try await stage.send(RecordingHopClient(plan: { _ in .splice(into: target) }))
            #expect(log.error?.code == .cannotWriteToFile)
        }
    }

    // MARK: upgrades

    @Test func aRequestedUpgrade() async throws {
        let plan = ScriptPlan(
            .expectHead,
            .send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"),
            .expectEnd)
        try await withLoads(plan) { stage in
            var request = try stage.request("/chat", [("Upgrade", "websocket")])
            request.url = URL(string: "ws://origin.test:\(stage.origin.port)/chat")
            let log = await stage.send(HopRequest(request: request, isUpgrade: true))
            #expect(log.order == ["upgraded", "end"] && log.error == nil && log.response?.statusCode == 101)
            #expect(stage.wire().contains("\r\nConnection: Upgrade\r\n"))
            #expect(stage.wire().contains("\r\nUpgrade: websocket\r\n"))
        }
    }

    @Test func aRefusedUpgrade() async throws {
        try await withLoads(ScriptPlan(.expectHead, .reply("no", status: "403 Forbidden"), .stall)) { stage in
            var request = try stage.request("/chat", [("Upgrade", "websocket")])
            request.url = URL(string: "ws://origin.test:\(stage.origin.port)/chat")
            let log = await stage.send(HopRequest(request: request, isUpgrade: true))
            #expect(log.response?.statusCode == 403 && log.text == "no" && log.error == nil)
        }
    }
}
