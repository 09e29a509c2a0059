// SPDX-License-Identifier: MIT

import Glibc
import LupineHTTP
import LupineOrigin
import LupineTestKit
import Testing

@testable import LupineTransport

/// Requests and responses of every shape through the whole stack.
@Suite struct HTTPClientTests {
    struct Framing: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let steps: [Script.Step]
        let body: String
        var connections = 1
    }

    static let framings = [
        Framing(testDescription: "a length", steps: [.reply("hello")], body: "hello"),
        Framing(testDescription: "length zero", steps: [.reply("")], body: ""),
        Framing(
            testDescription: "no content",
            steps: [.send("HTTP/1.1 204 No Content\r\n\r\n")], body: ""),
        Framing(
            testDescription: "chunks",
            steps: [
                .send(
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"
                )
            ], body: "hello world"),
        Framing(
            testDescription: "chunks and trailers",
            steps: [
                .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n")
            ], body: "ok"),
        Framing(
            testDescription: "the end of the connection",
            steps: [.send("HTTP/1.1 200 OK\r\n\r\nto the end"), .close], body: "to the end", connections: 2),
        Framing(
            testDescription: "interim heads first",
            steps: [
                .send("HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"),
                .reply("late"),
            ], body: "late"),
    ]

    @Test(arguments: framings, TestedHTTP.allCases) func framesOfResponses(
        _ row: Framing, over testedHTTP: TestedHTTP
    )
        async throws
    {
        let steps = [.expectHead] + row.steps
        let twice = row.connections == 1 ? steps + steps : steps
        try await withStack(ScriptPlan([Script(twice + [.stall])]), over: testedHTTP) { client, origin in
            for _ in 0..<2 {
                let response = try await client.get(origin.url + "/")
                #expect(try await response.body.text() == row.body)
            }
            #expect(client.connectionsOpened == (testedHTTP == .http1 ? row.connections : 1))
        }
    }

    @Test(arguments: TestedHTTP.allCases) func proxyAuthorizationIsNotSentToAnOrigin(
        over testedHTTP: TestedHTTP
    )
        async throws
    {
        try await withStack(over: testedHTTP) { client, origin in
            var request = try HTTPRequest(url: origin.url + "/headers")
            try request.fields.append(.proxyAuthorization, "Basic c2VjcmV0")
            try request.fields.append(.accept, "text/plain")
            let text = try await client.send(request).body.text()
            #expect(text.contains("text/plain") && !text.contains("c2VjcmV0"))
        }
    }

    @Test(
        "[H-8.17] OPTIONS without path and query asks for the server as a whole",
        arguments: TestedHTTP.allCases)
    func theServerAsAWhole(over testedHTTP: TestedHTTP) async throws {
        let plan = ScriptPlan([
            Script([
                .expectHead, .reply("a"), .expectHead, .reply("b"), .expectHead, .reply("c"), .expectHead,
                .reply("d"), .expectHead,
                .send("HTTP/1.1 307 Away\r\nLocation: /\r\nContent-Length: 0\r\n\r\n"),
                .expectHead, .reply("e"), .stall,
            ])
        ])
        try await withStack(plan, over: testedHTTP, settings: .with { $0.redirectLimit = 1 }) {
            client, origin in
            for (method, rest) in [
                (Method.options, ""), (.options, "/"), (.options, "?q"), (.get, ""), (.options, ""),
            ] {
                let response = try await client.send(HTTPRequest(method: method, url: origin.url + rest))
                _ = try await response.body.collect()
            }
            let lines = String(decoding: origin.receivedAsHTTP1(on: 0), as: UTF8.self)
                .split(separator: "\r\n")
                .filter { $0.hasSuffix(" HTTP/1.1") }
            #expect(
                lines == [
                    "OPTIONS * HTTP/1.1", "OPTIONS / HTTP/1.1", "OPTIONS /?q HTTP/1.1", "GET / HTTP/1.1",
                    "OPTIONS * HTTP/1.1", "OPTIONS / HTTP/1.1",
                ])
        }
    }

    @Test("[H-8.17] OPTIONS for the server as a whole is answered", arguments: TestedHTTP.allCases)
    func theServerAsAWholeAnswers(over testedHTTP: TestedHTTP) async throws {
        try await withStack(over: testedHTTP) { client, origin in
            let response = try await client.send(HTTPRequest(method: .options, url: origin.url))
            #expect(response.status.code == 204)
            #expect(response.fields[.allow]?.contains("OPTIONS") == true)
        }
    }

    @Test("[H-8.17] through a proxy, OPTIONS for the server as a whole names its authority alone")
    func theServerAsAWholeThroughAProxy() async throws {
        var serving = OriginConfiguration()
        serving.recordedBytes = 1 << 16
        let proxy = try OriginServer.start(configuration: serving)
        var configuration = HTTPClient.Configuration()
        configuration.ownLoops = 1
        configuration.proxy = .url(proxy.url)
        let client = HTTPClient(configuration: configuration)
        let requests = [
            (Method.options, "http://far.test:81", 204), (.options, "http://far.test/", 405),
            (.get, "http://far.test", 200),
        ]
        do {
            for (method, url, status) in requests {
                let response = try await client.send(HTTPRequest(method: method, url: url))
                #expect(response.status.code == status)
                _ = try await response.body.collect()
            }
        } catch { Issue.record(error) }
        await client.shutdown()
        await proxy.shutdown()
        let lines = (0..<3).flatMap {
            String(decoding: proxy.received(on: $0), as: UTF8.self).split(separator: "\r\n")
        }.filter { $0.hasSuffix(" HTTP/1.1") }
        #expect(
            lines.sorted() == [
                "GET http://far.test/ HTTP/1.1", "OPTIONS http://far.test/ HTTP/1.1",
                "OPTIONS http://far.test:81 HTTP/1.1",
            ])
    }

    @Test(arguments: TestedHTTP.allCases) func metricsReportTimesSizesAndAddresses(
        over testedHTTP: TestedHTTP
    )
        async throws
    {
        try await withStack(over: testedHTTP, settings: .with { $0.decodesContent = true }) {
            client, origin in
            for isReused in [false, true] {
                let response = try await client.get(origin.url + "/gzip")
                let text = try await response.body.text()
                let metrics = try #require(response.body.metrics)
                #expect(metrics.isReusedConnection == isReused)
                #expect(metrics.responseBodyBytesAfterDecoding == text.utf8.count)
                #expect(metrics.responseBodyBytesReceived > 0)
                #expect(metrics.responseBodyBytesReceived != metrics.responseBodyBytesAfterDecoding)
                #expect(metrics.requestHeaderBytesSent > 0 && metrics.responseHeaderBytesReceived > 0)
                #expect(metrics.remoteAddress == origin.address && metrics.localAddress != nil)
                let milestones = [
                    metrics.connectStart, metrics.connectEnd, metrics.requestStart, metrics.requestEnd,
                    metrics.responseStart, metrics.responseEnd,
                ]
                #expect(milestones.count { $0 == nil } == (isReused ? 2 : 0))
                let knownMilestones = milestones.compactMap { $0 }
                #expect(
                    knownMilestones == knownMilestones.sorted() && knownMilestones.allSatisfy { $0 >= .zero })
            }
        }
    }

    @Test(arguments: framings, TestedHTTP.allCases) func responsesSentByteByByte(
        _ row: Framing, over testedHTTP: TestedHTTP
    )
        async throws
    {
        let steps = row.steps.map { step -> Script.Step in
            if case .send(let bytes) = step { .sendByteByByte(bytes) } else { step }
        }
        try await withStack(ScriptPlan([Script([.expectHead] + steps + [.stall])]), over: testedHTTP) {
            client, origin in
            let text = try await client.get(origin.url + "/").body.text()
            #expect(text == row.body)
        }
    }

    @Test(arguments: TestedHTTP.allCases) func aHeadRequestHasNoBodyWhateverTheFieldsSay(
        over testedHTTP: TestedHTTP
    )
        async throws
    {
        try await withStack(over: testedHTTP) { client, origin in
            let response = try await client.send(HTTPRequest(method: .head, url: origin.url + "/bytes/1000"))
            #expect(response.fields[.contentLength] == "1000")
            #expect(try await response.body.collect() == [])
            #expect(try await client.get(origin.url + "/bytes/10").body.collect().count == 10)
            #expect(client.connectionsOpened == 1)
        }
    }

    @Test(arguments: [0, 1, 70_000, 3_000_000], TestedHTTP.allCases) func requestContent(
        _ count: Int, over testedHTTP: TestedHTTP
    ) async throws {
        try await withStack(over: testedHTTP) { client, origin in
            origin.route("POST", "/mirror") { request throws(Refusal) in
                OriginResponse(body: .bytes(request.body))
            }
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            let response = try await client.send(
                HTTPRequest(method: .post, url: origin.url + "/mirror", body: .bytes(bytes)))
            #expect(try await response.body.collect() == bytes)
        }
    }

    @Test(arguments: [nil, Int64(300_000)], TestedHTTP.allCases) func contentFromAStream(
        _ length: Int64?, over testedHTTP: TestedHTTP
    ) async throws {
        try await withStack(over: testedHTTP) { client, origin in
            origin.route("PUT", "/mirror") { request throws(Refusal) in
                var response = OriginResponse(body: .bytes(request.body))
                try response.add(
                    "X-Framing", request.field("Transfer-Encoding") ?? request.field("Content-Length") ?? "")
                return response
            }
            let count = Box(0)
            let body = HTTPRequest.Body.stream(length: length) {
                guard count.value < 30 else { return nil }
                count.update { $0 += 1 }
                await Task.yield()
                return [UInt8](repeating: UInt8(count.value), count: 10_000)
            }
            let response = try await client.send(
                HTTPRequest(method: .put, url: origin.url + "/mirror", body: body))
            let chunked = testedHTTP == .http1 ? "chunked" : ""
            #expect(response.fields[try FieldName("X-Framing")] == (length.map { "\($0)" } ?? chunked))
            let expected = (1...30).flatMap { [UInt8](repeating: UInt8($0), count: 10_000) }
            #expect(try await response.body.collect() == expected)
        }
    }

    @Test(arguments: [(Int64(5), 4), (Int64(5), 6)])
    func aStreamWhoseLengthDiffersFromTheAnnouncedOne(_ announced: Int64, _ given: Int) async throws {
        try await withStack(ScriptPlan(.expectHead, .expectBytes(100), .stall)) { client, origin in
            let isGiven = Box(false)
            let body = HTTPRequest.Body.stream(length: announced) {
                defer { isGiven.update { $0 = true } }
                return isGiven.value ? nil : [UInt8](repeating: 1, count: given)
            }
            let error = await failure { () throws(TransportError) in
                try await client.send(HTTPRequest(method: .post, url: origin.url + "/", body: body))
            }
            #expect(
                error
                    == .http(
                        host: "127.0.0.1", port: origin.port,
                        .bodyLengthMismatch(announced: announced, given: Int64(given))))
        }
    }

    @Test(arguments: TestedHTTP.allCases) func theErrorOfAStreamIsReported(over testedHTTP: TestedHTTP)
        async throws
    {
        struct Broken: Error, CustomStringConvertible { let description = "the tape is torn" }
        try await withStack(ScriptPlan(.expectHead, .stall), over: testedHTTP) { client, origin in
            let error = await failure { () throws(TransportError) in
                try await client.send(
                    HTTPRequest(
                        method: .post, url: origin.url + "/", body: .stream(length: nil) { throw Broken() }))
            }
            #expect(error == .content("the tape is torn"))
        }
    }

    /// The peer reads nothing: the source is asked for no more than the kernel's buffers hold.
    @Test(arguments: TestedHTTP.allCases) func aStreamIsReadNoFasterThanThePeerReads(
        over testedHTTP: TestedHTTP
    )
        async throws
    {
        let plan = ScriptPlan(
            .expectHead, .signal("head"), .waitForSignal("go"), .expectBytes(20_000_000), .reply())
        try await withStack(plan, over: testedHTTP) { client, origin in
            let pieceCount = Box(0)
            let body = HTTPRequest.Body.stream(length: 64 * 1_000_000) {
                pieceCount.update { $0 += 1 }
                return [UInt8](repeating: 7, count: 1_000_000)
            }
            let request = try HTTPRequest(method: .post, url: origin.url + "/", body: body)
            let response = Task { try await client.send(request).body.text() }
            await origin.gate("head").wait()
            // The kernel's buffers hold a few megabytes between client and origin, but not 64.
            #expect(pieceCount.value < 64)
            origin.gate("go").open()
            #expect(try await response.value == "ok")
            #expect(pieceCount.value < 64)
        }
    }

    /// Local addresses. The origin has 127.0.0.1: from the same address a file is copied through memory, from another one the
    /// kernel sends it.
    private static let localAddresses = ["127.0.0.1", "127.0.0.2"]
    /// HTTP/2 always copies a file through memory, into frames.
    private static let fileTransfers = localAddresses.map { ($0, TestedHTTP.http1) } + [("127.0.0.1", .http2)]

    @Test(arguments: [0, 10, 5_000_000], fileTransfers)
    func aFile(_ count: Int, by transfer: (localAddress: String, testedHTTP: TestedHTTP)) async throws {
        let path = try temporaryFile((0..<count).map { UInt8(truncatingIfNeeded: $0 / 7) })
        defer { _ = unsafe unlink(path) }
        try await withStack(
            over: transfer.testedHTTP, settings: .with { $0.localBinding = transfer.localAddress }
        ) {
            client, origin in
            origin.route("PUT", "/mirror") { request throws(Refusal) in
                OriginResponse(body: .bytes(request.body))
            }
            let response = try await client.send(
                HTTPRequest(method: .put, url: origin.url + "/mirror", body: .file(path: path)))
            #expect(
                try await response.body.collect() == (0..<count).map { UInt8(truncatingIfNeeded: $0 / 7) })
            #expect(client.connectionsOpened == 1)
        }
    }

    @Test(arguments: fileTransfers) func anUnreadableFile(
        by transfer: (localAddress: String, testedHTTP: TestedHTTP)
    ) async throws {
        try await withStack(
            over: transfer.testedHTTP, settings: .with { $0.localBinding = transfer.localAddress }
        ) {
            client, origin in
            let rows: [(path: String, error: Errno)] = [
                ("/nonexistent/file", .noSuchFile), ("/tmp", .isDirectory), ("/dev/zero", .invalidArgument),
            ]
            for (path, expected) in rows {
                let error = await failure { () throws(TransportError) in
                    try await client.send(
                        HTTPRequest(method: .put, url: origin.url + "/put", body: .file(path: path)))
                }
                #expect(error == .file(expected))
            }
        }
    }

    @Test(arguments: TestedHTTP.allCases) func collectingStopsAtItsLimit(over testedHTTP: TestedHTTP)
        async throws
    {
        try await withStack(over: testedHTTP) { client, origin in
            let fits = try await client.get(origin.url + "/bytes/1000")
            #expect(try await fits.body.collect(upTo: 1_000).count == 1_000)
            let long = try await client.get(origin.url + "/bytes/1001")
            let error = await failure { () throws(TransportError) in
                try await long.body.collect(upTo: 1_000)
            }
            #expect(error == .contentTooLong(limit: 1_000))
        }
    }

    /// The consumer reads nothing: the origin can send no more than the buffers hold, whatever the body's size.
    @Test(arguments: TestedHTTP.allCases) func aSlowConsumerStopsTheSocket(over testedHTTP: TestedHTTP)
        async throws
    {
        try await withStack(over: testedHTTP, buffers: 16_384) { client, origin in
            let length = 200 << 20
            let response = try await client.get(origin.url + "/bytes/\(length)")
            var iterator = response.body.makeAsyncIterator()
            #expect(try await iterator.next() != nil)
            // Other requests have passed through the same loop: it has read everything that it could.
            for _ in 0..<5 { #expect(try await client.get(origin.url + "/get").body.text() != "") }
            #expect(origin.counts.bytesSent < 32 << 20)
            var received = 0
            while received < 2 << 20, let piece = try await iterator.next() { received += piece.count }
            #expect(received >= 2 << 20)
        }
    }

    @Test(arguments: TestedHTTP.allCases) func droppingTheBodyEndsTheExchange(over testedHTTP: TestedHTTP)
        async throws
    {
        let plan = ScriptPlan(
            .expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nabc"), .expectEnd,
            .signal("gone"), .stall)
        try await withStack(plan, over: testedHTTP) { client, origin in
            do {
                let response = try await client.get(origin.url + "/")
                #expect(response.status.code == 200)
            }
            await origin.gate("gone").wait()
        }
    }

    @Test(arguments: TestedHTTP.allCases) func droppingAShortBodyKeepsTheConnection(
        over testedHTTP: TestedHTTP
    )
        async throws
    {
        let plan = ScriptPlan(
            .expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc"), .waitForSignal("rest"),
            .send("def"), .signal("sent"), .expectHead, .reply("second"), .stall)
        try await withStack(plan, over: testedHTTP, settings: .with { $0.connectionsPerHost = 1 }) {
            client, origin in
            do { _ = try await client.get(origin.url + "/") }
            origin.gate("rest").open()
            #expect(try await client.get(origin.url + "/").body.text() == "second")
            #expect(client.connectionsOpened == 1)
        }
    }

    /// The rest is short but never comes: the connection is closed, which makes room for another.
    @Test(arguments: TestedHTTP.allCases) func droppingAStalledBodyFreesTheConnection(
        over testedHTTP: TestedHTTP
    )
        async throws
    {
        let plan = ScriptPlan([
            Script([.expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc"), .stall]),
            Script([.expectHead, .reply("second")]),
        ])
        try await withStack(plan, over: testedHTTP, settings: .with { $0.connectionsPerHost = 1 }) {
            client, origin in
            do { _ = try await client.get(origin.url + "/") }
            #expect(try await client.get(origin.url + "/").body.text() == "second")
        }
    }

    @Test(arguments: [nil, "127.0.0.1", "lo"]) func aUnixDomainSocket(_ localBinding: String?) async throws {
        let path = "/tmp/lupine-stack-\(UInt64.random(in: 0...UInt64.max))"
        let origin = try OriginServer.start(at: .unix(path: path))
        var configuration = HTTPClient.Configuration()
        configuration.ownLoops = 1
        configuration.localBinding = localBinding
        let client = HTTPClient(configuration: configuration)
        let encoded = path.split(separator: "/").map { "%2F" + $0 }.joined()
        for _ in 0..<2 {
            #expect(try await client.get("http+unix://\(encoded)/bytes/9").body.collect().count == 9)
        }
        #expect(client.connectionsOpened == 1)
        await client.shutdown()
        await origin.shutdown()
    }

    @Test func anOverrideReplacesTheLookUp() async throws {
        let origin = try OriginServer.start()
        var configuration = HTTPClient.Configuration()
        configuration.ownLoops = 1
        configuration.overrides[.init(host: "shop.test", port: origin.port)] = [origin.address]
        let client = HTTPClient(configuration: configuration)
        let response = try await client.get("http://shop.test:\(origin.port)/headers")
        #expect(try await response.body.text().contains("shop.test"))
        await client.shutdown()
        await origin.shutdown()
    }

    @Test(arguments: TestedHTTP.allCases) func fieldsThatCannotBeSentFailOnlyTheirRequest(
        over testedHTTP: TestedHTTP
    )
        async throws
    {
        try await withStack(over: testedHTTP) { client, origin in
            _ = try await client.get(origin.url + "/get").body.collect()
            var fields = Fields()
            try fields.append(.contentLength, "3")
            let request = try HTTPRequest(url: origin.url + "/get", fields: fields)
            let error = await failure { () throws(TransportError) in try await client.send(request) }
            guard case .http(_, _, .framingFieldToSend)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            _ = try await client.get(origin.url + "/get").body.collect()
            #expect(client.connectionsOpened == 1)
        }
    }
}

/// Creates a file with these bytes for one test, and returns its path.
func temporaryFile(_ bytes: [UInt8] = []) throws -> String {
    let path = "/tmp/lupine-stack-\(UInt64.random(in: 0...UInt64.max))"
    let file = try Descriptor.writing(path: path)
    var start = 0
    while start < bytes.count {
        guard case .bytes(let count) = try file.write(bytes.span.extracting(droppingFirst: start)) else {
            break
        }
        start += count
    }
    return path
}

/// Returns the content of a file.
func contents(of path: String) throws -> [UInt8] {
    let file = try Descriptor.reading(path: path)
    let size = Int(try file.fileSize())
    return try [UInt8](capacity: size + 1) { output throws(Errno) in
        while output.count < size, case .bytes = try file.read(into: &output) {}
    }
}
