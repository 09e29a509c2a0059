// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineOrigin
import LupineTestKit
import Testing

@testable import LupineTransport

/// Peers that misbehave: the exchange ends once, with the expected error, and no connection is left.
@Suite struct ScriptedPeerTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let steps: [Script.Step]
        let expected: TransportError
        var method = Method.get
        var body: [UInt8] = []

        /// Whether the peer sends before it has read a request.
        var sendsBeforeTheRequest: Bool { if case .send = steps.first { true } else { false } }
    }

    private static func http(_ error: HTTPError) -> TransportError {
        .http(host: "origin.test", port: 0, error)
    }
    private static func lost(_ error: Errno) -> TransportError {
        .connectionLost(host: "origin.test", port: 0, error)
    }

    static let rows: [Row] = [
        Row(
            testDescription: "closes at once", steps: [.expectHead, .close],
            expected: http(.truncated(.beforeHead))),
        Row(
            testDescription: "half-closes without an answer", steps: [.expectHead, .halfClose, .expectEnd],
            expected: http(.truncated(.beforeHead))),
        Row(
            testDescription: "closes inside the head",
            steps: [.expectHead, .send("HTTP/1.1 200 OK\r\nA: "), .close],
            expected: http(.truncated(.insideHead(received: 20)))),
        Row(
            testDescription: "closes inside a body with a length",
            steps: [.expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"), .close],
            expected: http(.truncated(.insideBody(received: 3, expected: 10)))),
        Row(
            testDescription: "closes inside a chunk",
            steps: [
                .expectHead, .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc"), .close,
            ],
            expected: http(.truncated(.insideChunk(received: 3)))),
        Row(
            testDescription: "closes before the last chunk's end",
            steps: [
                .expectHead, .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"), .close,
            ],
            expected: http(.truncated(.insideTrailers))),
        Row(
            testDescription: "resets instead of an answer", steps: [.expectHead, .reset],
            expected: lost(.connectionReset)),
        Row(
            testDescription: "speaks no HTTP", steps: [.expectHead, .send("220 mail ready\r\n"), .stall],
            expected: http(.notHTTP(octet: UInt8(ascii: "2"), offset: 0))),
        Row(
            testDescription: "speaks another version",
            steps: [.expectHead, .send("HTTP/2.0 200 OK\r\n\r\n"), .stall],
            expected: http(.unsupportedVersion(Excerpt("HTTP/2.0")))),
        Row(
            testDescription: "a malformed chunk size",
            steps: [
                .expectHead, .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"), .stall,
            ],
            expected: http(.malformedChunkSize(octet: UInt8(ascii: "z"), offset: 0))),
        Row(
            testDescription: "two lengths",
            steps: [
                .expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
                .stall,
            ],
            expected: http(.conflictingContentLengths(Excerpt("1"), Excerpt("2")))),
        Row(
            testDescription: "an upgrade that was not requested",
            steps: [.expectHead, .send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"), .stall],
            expected: http(.unexpectedUpgrade)),
        Row(
            testDescription: "interim heads without end",
            steps: [
                .expectHead, .send(String(repeating: "HTTP/1.1 102 Processing\r\n\r\n", count: 33)), .stall,
            ], expected: http(.limitExceeded(.interimHeads, allowed: 32))),
        Row(
            testDescription: "sends before the request",
            steps: [.send("HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n"), .expectEnd],
            expected: http(.unexpectedBytes(octet: UInt8(ascii: "H")))),
        Row(
            testDescription: "closes in the middle of the request",
            steps: [.expectHead, .expectBytes(100), .close], expected: lost(.connectionReset), method: .post,
            body: [UInt8](repeating: 0, count: 16 << 20)),
    ]

    @Test(arguments: rows) func eachMisbehaviourIsReportedOnce(_ row: Row) async throws {
        try await withPool(ScriptPlan([Script(row.steps)]), buffers: row.body.isEmpty ? nil : 8_192) {
            stage in
            let sink = try await stage.send(
                row.method, content: row.body.isEmpty ? .none : .bytes(row.body))
            switch (row.expected, sink.failure?.withoutPort) {
            // EPIPE, ECONNRESET or an orderly end, depending on which packet came first.
            case (.connectionLost, .connectionLost(_, _, .brokenPipe)?),
                (.connectionLost, .connectionLost(_, _, .connectionReset)?),
                (.connectionLost, .http(_, _, .truncated(.beforeHead))?):
                break
            // The early response may come before the socket belongs to the connection, or after the request has been sent.
            case (.http(_, _, .unexpectedBytes), let failure):
                #expect(failure == row.expected || sink.log.value.head?.status.code == 408)
            case (let expected, let failure): #expect(failure == expected)
            }
            await stage.settle()
            #expect(sink.log.value.ends == 1)
            #expect(stage.pool.openCount == 0 || sink.failure == nil)
        }
    }

    @Test(arguments: rows.filter { $0.body.isEmpty && !$0.sendsBeforeTheRequest })
    func eachMisbehaviourByteByByte(_ row: Row) async throws {
        let steps = row.steps.map { step -> Script.Step in
            if case .send(let bytes) = step { .sendByteByByte(bytes) } else { step }
        }
        try await withPool(ScriptPlan([Script(steps)])) { stage in
            let sink = try await stage.send(row.method)
            let failure = sink.failure?.withoutPort
            #expect(failure == row.expected || failure == Self.lost(.connectionReset))
            #expect(sink.log.value.ends == 1)
        }
    }

    /// A reset in the middle of a body: the content before it is delivered.
    @Test(arguments: TestedHTTP.allCases) func aResetInTheBody(over testedHTTP: TestedHTTP) async throws {
        let plan = ScriptPlan(
            .expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"), .waitForSignal("read"),
            .reset)
        try await withStack(plan, over: testedHTTP) { client, origin in
            let response = try await client.get(origin.url + "/")
            var iterator = response.body.makeAsyncIterator()
            let first = try await iterator.next()
            #expect(first == Array("abc".utf8))
            origin.gate("read").open()
            let body = response.body
            let error = await failure { () throws(TransportError) in try await body.collect() }
            #expect(error == .connectionLost(host: "127.0.0.1", port: origin.port, .connectionReset))
        }
    }

    // MARK: early answers

    /// The server answers 413 and closes while most of the body is unsent: the caller gets the answer.
    @Test(arguments: [false, true]) func anAnswerInTheMiddleOfTheRequest(_ resets: Bool) async throws {
        let plan = ScriptPlan(
            .expectHead, .expectBytes(1_000),
            .reply("too much", status: "413 Content Too Large", "Connection: close\r\n"),
            resets ? .reset : .close)
        try await withStack(plan, buffers: 8_192) { client, origin in
            let request = try HTTPRequest(
                method: .post, url: origin.url + "/", body: .bytes([UInt8](repeating: 0, count: 16 << 20)))
            let response = try await client.send(request)
            #expect(response.status.code == 413)
            let text = try await response.body.text()
            #expect(text == "too much")
        }
    }

    @Test(arguments: TestedHTTP.allCases) func aCompleteAnswerBeforeTheRequestIsComplete(
        over testedHTTP: TestedHTTP
    )
        async throws
    {
        let plan = ScriptPlan(.expectHead, .reply("early"), .expectEnd, .signal("gone"), .stall)
        try await withStack(plan, over: testedHTTP) { client, origin in
            let hold = Gate()
            let request = try HTTPRequest(
                method: .post, url: origin.url + "/",
                body: .stream(length: nil) {
                    await hold.wait()
                    return nil
                })
            let text = try await client.send(request).body.text()
            #expect(text == "early")
            // The request will never be complete, so the connection cannot be reused, and is closed.
            await origin.gate("gone").wait()
            hold.open()
        }
    }

    /// The head of the response comes early, its content only after the whole request: both directions proceed at once.
    @Test(arguments: TestedHTTP.allCases) func bothDirectionsAtOnce(over testedHTTP: TestedHTTP) async throws
    {
        let plan = ScriptPlan(
            .expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"),
            .expectBytes(testedHTTP == .http1 ? 3 + 3 + 2 + 5 : 3), .send("done"),
            .expectHead, .reply("again"), .stall)
        try await withStack(plan, over: testedHTTP) { client, origin in
            let headReceived = Gate()
            let isGiven = Box(false)
            let request = try HTTPRequest(
                method: .post, url: origin.url + "/",
                body: .stream(length: nil) {
                    await headReceived.wait()
                    defer { isGiven.update { $0 = true } }
                    return isGiven.value ? nil : Array("abc".utf8)
                })
            let response = try await client.send(request)
            headReceived.open()
            let text = try await response.body.text()
            #expect(text == "done")
            let again = try await client.get(origin.url + "/").body.text()
            #expect(again == "again" && client.connectionsOpened == 1)
        }
    }

    // MARK: Expect: 100-continue

    @Test(
        arguments: [
            "", "HTTP/1.1 100 Continue\r\n\r\n",
            "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n",
        ], TestedHTTP.allCases)
    func heldContentIsSentAfter100ContinueOrTheTimeout(_ interimHeads: String, over testedHTTP: TestedHTTP)
        async throws
    {
        let plan = ScriptPlan(.expectHead, .send(interimHeads), .expectBytes(4), .reply(), .stall)
        let timeout: Duration = interimHeads.isEmpty ? .milliseconds(20) : .seconds(3_600)
        try await withStack(plan, over: testedHTTP, settings: .with { $0.continueTimeout = timeout }) {
            client, origin in
            let request = try HTTPRequest(method: .post, url: origin.url + "/", body: .text("body"))
            let text = try await client.send(request).body.text()
            #expect(text == "ok")
            let wire = String(decoding: origin.receivedAsHTTP1(on: 0), as: UTF8.self)
            #expect(wire.contains("Expect: 100-continue\r\n") && wire.hasSuffix("\r\n\r\nbody"))
        }
    }

    @Test(arguments: TestedHTTP.allCases) func aFinalAnswerToHeldContent(over testedHTTP: TestedHTTP)
        async throws
    {
        let plan = ScriptPlan([
            Script([.expectHead, .reply("no", status: "417 Expectation Failed"), .expectEnd, .signal("gone")]
            ),
            Script([.expectHead, .reply("next"), .stall]),
        ])
        try await withStack(plan, over: testedHTTP, settings: .with { $0.continueTimeout = .seconds(3_600) })
        {
            client, origin in
            let request = try HTTPRequest(method: .post, url: origin.url + "/", body: .text("body"))
            let response = try await client.send(request)
            #expect(response.status.code == 417)
            _ = try await response.body.collect()
            await origin.gate("gone").wait()
            #expect(!String(decoding: origin.receivedAsHTTP1(on: 0), as: UTF8.self).contains("body"))
            let next = try await client.get(origin.url + "/").body.text()
            #expect(next == "next")
        }
    }
}
