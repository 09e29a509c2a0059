// SPDX-License-Identifier: MIT

import Glibc
import LupineHTTP
import LupineOrigin
import LupineTestKit
import Testing

@testable import LupineTransport

/// The transport's interface below the client: interim heads, trailers, demand, files, upgrades, rates, metrics.
@Suite struct ExchangeTests {
    @Test func interimHeadsAndTrailersInTheirOrder() async throws {
        let plan = ScriptPlan(
            .expectHead,
            .send(
                "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
                    + "\r\n2\r\nok\r\n0\r\nX-Sum: 7\r\n\r\n"),
            .stall)
        try await withPool(plan) { stage in
            let log = try await stage.send().log.value
            #expect(log.order == ["interim", "head", "content", "end"])
            #expect(log.interim.map(\.status.code) == [103])
            guard case .success(let trailers)? = log.result else {
                Issue.record("\(String(describing: log.result))")
                return
            }
            #expect(trailers[try FieldName("X-Sum")] == "7")
        }
    }

    @Test(arguments: [true, false]) func aPausedConsumerReceivesNothing(_ atHead: Bool) async throws {
        let plan = ScriptPlan(
            .expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc"), .waitForSignal("more"),
            .send("def"),
            .signal("sent"), .stall)
        try await withPool(plan) { stage in
            let sink = RecordingSink(
                plan: { atHead ? .pause : .deliver }, demand: { $0 < 6 ? .pause : .more })
            let pair = try stage.exchange(sink: sink)
            stage.pool.submit(pair.exchange)
            await sink.headReceived.wait()
            stage.origin.gate("more").open()
            await stage.origin.gate("sent").wait()
            await stage.settle()
            #expect(sink.text == (atHead ? "" : "abc"))
            while sink.log.value.ends == 0 {
                pair.exchange.resume()
                await Task.yield()
            }
            #expect(sink.text == "abcdef" && sink.failure == nil)
        }
    }

    @Test func enoughEndsTheExchangeAndKeepsTheConnection() async throws {
        let plan = ScriptPlan(
            .expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc"), .waitForSignal("rest"),
            .send("def"), .expectHead, .reply("second"), .stall)
        // The clock stands still, so the remaining content may take any time.
        let clock = ManualClock()
        try await withPool(plan, clock: clock) { stage in
            let pair = try stage.exchange(sink: RecordingSink(demand: { _ in .enough }))
            let sink = pair.sink
            stage.pool.submit(pair.exchange)
            await stage.expire(HTTP1Connection.exchangeEndDelay, on: clock, until: sink)
            #expect(sink.failure == nil && sink.text == "abc")
            stage.origin.gate("rest").open()
            while stage.pool.idleCount == 0 { await Task.yield() }
            let second = try await stage.send()
            #expect(second.text == "second" && stage.pool.connectionsOpened == 1)
        }
    }

    @Test func aLongRemainderIsNotRead() async throws {
        let plan = ScriptPlan(
            .expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 60000000\r\n\r\nabc"), .expectEnd,
            .signal("closed"))
        try await withPool(plan) { stage in
            let sink = try await stage.send(sink: RecordingSink(plan: { .skip }))
            #expect(sink.failure == nil && sink.text == "")
            await stage.origin.gate("closed").wait()
        }
    }

    // MARK: to a file

    struct Transfer: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let head: String
        let body: [UInt8]
        let ending: [Script.Step]
        var followsAtOnce = false
    }

    static let content = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 11) }
    static let transfers = [
        Transfer(
            testDescription: "a length", head: "Content-Length: 300000\r\n", body: content,
            ending: [.expectHead, .reply("second"), .stall]),
        Transfer(
            testDescription: "a length, with the head", head: "Content-Length: 300000\r\n", body: content,
            ending: [.expectHead, .reply("second"), .stall], followsAtOnce: true),
        Transfer(testDescription: "until the end", head: "", body: content, ending: [.close]),
        Transfer(
            testDescription: "chunks", head: "Transfer-Encoding: chunked\r\n",
            body: Array("493e0\r\n".utf8) + content + Array("\r\n0\r\n\r\n".utf8),
            ending: [.expectHead, .reply("second"), .stall]),
    ]

    @Test(arguments: transfers, [false, true])
    func contentIsSplicedIntoAFile(_ row: Transfer, _ pauses: Bool) async throws {
        let path = try temporaryFile()
        defer { _ = unsafe unlink(path) }
        let head: [Script.Step] = [.expectHead, .send("HTTP/1.1 200 OK\r\n\(row.head)\r\n")]
        let gate: [Script.Step] = row.followsAtOnce ? [] : [.waitForSignal("body")]
        let plan = ScriptPlan([
            Script(head + gate + [.send(row.body)] + row.ending),
            Script([.expectHead, .reply("second"), .stall]),
        ])
        try await withPool(plan) { stage in
            let target = FileTarget(try Descriptor.writing(path: path))
            let running = Box<Exchange?>(nil)
            let sink = RecordingSink(
                plan: { .splice(into: target) },
                demand: { _ in
                    guard pauses else { return .more }
                    Task.detached { running.value?.resume() }
                    return .pause
                })
            let pair = try stage.exchange(sink: sink)
            running.update { $0 = pair.exchange }
            stage.pool.submit(pair.exchange)
            await sink.headReceived.wait()
            stage.origin.gate("body").open()
            await sink.ended.wait()
            running.update { $0 = nil }
            #expect(sink.failure == nil && sink.log.value.ends == 1)
            #expect(sink.log.value.spliced == 300_000 && sink.metrics?.responseContentBytes == 300_000)
            #expect(try contents(of: path) == Self.content)
            let second = try await stage.send()
            #expect(second.text == "second")
        }
    }

    /// Small chunks are gathered, so that the server cannot cause a system call for each.
    @Test func tinyChunksAreWrittenTogether() async throws {
        let path = try temporaryFile()
        defer { _ = unsafe unlink(path) }
        let octets = (0..<50_000).map { UInt8(truncatingIfNeeded: $0) }
        let wire = octets.flatMap { [0x31, 0x0D, 0x0A, $0, 0x0D, 0x0A] } + Array("0\r\n\r\n".utf8)
        let plan = ScriptPlan([
            Script([
                .expectHead, .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"), .send(wire),
                .stall,
            ])
        ])
        try await withPool(plan) { stage in
            let target = FileTarget(try Descriptor.writing(path: path))
            let writes = Box(0)
            let sink = try await stage.send(
                sink: RecordingSink(
                    plan: { .splice(into: target) },
                    demand: { _ in
                        writes.update { $0 += 1 }
                        return .more
                    }))
            #expect(sink.failure == nil && sink.log.value.spliced == octets.count)
            #expect(try contents(of: path) == octets)
            #expect(writes.value < octets.count / 4)
        }
    }

    /// The consumer has enough in the middle of the content.
    @Test func enoughOfAFile() async throws {
        let path = try temporaryFile()
        defer { _ = unsafe unlink(path) }
        let plan = ScriptPlan(
            .expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n"), .waitForSignal("body"),
            .send("abc"),
            .waitForSignal("rest"), .send("def"), .expectHead, .reply("second"), .stall)
        // The clock stands still, so the remaining content may take any time.
        let clock = ManualClock()
        try await withPool(plan, clock: clock) { stage in
            let target = FileTarget(try Descriptor.writing(path: path))
            let pair = try stage.exchange(
                sink: RecordingSink(plan: { .splice(into: target) }, demand: { _ in .enough }))
            stage.pool.submit(pair.exchange)
            await pair.sink.headReceived.wait()
            await stage.settle()
            stage.origin.gate("body").open()
            await stage.expire(HTTP1Connection.exchangeEndDelay, on: clock, until: pair.sink)
            #expect(pair.sink.failure == nil)
            stage.origin.gate("rest").open()
            while stage.pool.idleCount == 0 { await Task.yield() }
            let second = try await stage.send()
            #expect(second.text == "second")
            #expect(try contents(of: path) == Array("abc".utf8))
        }
    }

    @Test func aFileThatIsCutShort() async throws {
        let path = try temporaryFile()
        defer { _ = unsafe unlink(path) }
        let plan = ScriptPlan(
            .expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"), .waitForSignal("body"),
            .send("abc"), .close)
        try await withPool(plan) { stage in
            let target = FileTarget(try Descriptor.writing(path: path))
            let pair = try stage.exchange(sink: RecordingSink(plan: { .splice(into: target) }))
            stage.pool.submit(pair.exchange)
            await pair.sink.headReceived.wait()
            await stage.settle()
            stage.origin.gate("body").open()
            await pair.sink.ended.wait()
            #expect(
                pair.sink.failure
                    == .http(
                        host: "origin.test", port: stage.origin.port,
                        .truncated(.insideBody(received: 3, expected: 9))))
            #expect(try contents(of: path) == Array("abc".utf8))
        }
    }

    // MARK: other protocols

    struct Handover: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let method: Method
        let fields: [(FieldName, String)]
        let answer: String
    }

    static let handovers = [
        Handover(
            testDescription: "101", method: .get, fields: [(.upgrade, "echo"), (.connection, "Upgrade")],
            answer: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n"),
        Handover(
            testDescription: "CONNECT", method: .connect, fields: [],
            answer: "HTTP/1.1 200 Connection Established\r\n\r\n"),
    ]

    @Test(arguments: handovers, [true, false])
    func theConnectionIsHandedOver(_ row: Handover, _ peerCloses: Bool) async throws {
        let plan = ScriptPlan([
            Script(
                [.expectHead, .send(row.answer + "hello"), .expectBytes(4), .send("world")]
                    + (peerCloses ? [.close] : [.expectEnd, .signal("closed")]))
        ])
        try await withPool(plan) { stage in
            let receivedText = Box("")
            let closed = Gate()
            let sink = RecordingSink(upgrade: { connection in
                PingHandler(
                    connection, receivedText: receivedText, closed: closed,
                    closesAfter: peerCloses ? nil : "helloworld")
            })
            try await stage.send(row.method, fields: row.fields, sink: sink)
            #expect(sink.failure == nil)
            #expect(sink.log.value.order == ["head", "upgrade", "end"])
            if peerCloses { await closed.wait() } else { await stage.origin.gate("closed").wait() }
            #expect(receivedText.value == "helloworld")
            await stage.settle()
            #expect(stage.pool.openCount == 0)
        }
    }

    @Test func anUpgradedConnectionEndsWithThePool() async throws {
        let plan = ScriptPlan(.expectHead, .send(Self.handovers[0].answer), .expectEnd, .signal("closed"))
        try await withPool(plan) { stage in
            let closed = Gate()
            let receivedText = Box("")
            try await stage.send(
                .get, fields: Self.handovers[0].fields,
                sink: RecordingSink(upgrade: {
                    PingHandler($0, receivedText: receivedText, closed: closed, closesAfter: nil)
                }))
            await withCheckedContinuation { continuation in stage.pool.shutDown { continuation.resume() } }
            await closed.wait()
            #expect(receivedText.value == "!\(TransportError.shutDown)")
            await stage.origin.gate("closed").wait()
        }
    }

    // MARK: rates

    /// The clock advances only in the test's steps: no more content arrives than the rate allows.
    @Test func contentIsReceivedNoFasterThanTheRate() async throws {
        let clock = ManualClock()
        let plan = ScriptPlan(
            .expectHead, .reply(String(repeating: "a", count: 2_000)), .signal("sent"), .stall)
        try await withPool(plan, clock: clock) { stage in
            var options = ExchangeOptions()
            options.receiveRate = 1_000
            let pair = try stage.exchange(options: options)
            stage.pool.submit(pair.exchange)
            await stage.origin.gate("sent").wait()
            await pair.sink.headReceived.wait()
            var allowed = 250
            while pair.sink.log.value.ends == 0 {
                await stage.settle()
                #expect(pair.sink.log.value.body.count <= allowed)
                clock.advance(by: .milliseconds(100))
                allowed += 100
                stage.group.loops[0].wake()
                guard allowed < 10_000 else { break }
            }
            #expect(pair.sink.failure == nil && pair.sink.log.value.body.count == 2_000)
        }
    }

    /// Sends a file that is copied through memory, a file that the kernel sends, and bytes.
    @Test(arguments: ["127.0.0.1", "127.0.0.2", nil])
    func contentIsSentNoFasterThanTheRate(fileFrom localAddress: String?) async throws {
        let path = try temporaryFile([UInt8](repeating: 1, count: 2_000))
        defer { _ = unsafe unlink(path) }
        let clock = ManualClock()
        let plan = ScriptPlan(
            .expectHead, .signal("head"), .expectBytes(2_000), .signal("body"), .waitForSignal("go"),
            .reply(), .stall)
        try await withPool(plan, clock: clock) { stage in
            var options = ExchangeOptions()
            options.sendRate = 1_000
            let content: OutgoingContent =
                localAddress != nil
                ? .file(FileSource(try Descriptor.reading(path: path), offset: 0, count: 2_000))
                : .bytes([UInt8](repeating: 1, count: 2_000))
            let pair = try stage.exchange(.put, content: content, from: localAddress, options: options)
            stage.pool.submit(pair.exchange)
            await stage.origin.gate("head").wait()
            var allowed: Int64 = 250
            while pair.sink.log.value.sent < 2_000, allowed < 10_000 {
                await stage.settle()
                #expect(pair.sink.log.value.sent <= allowed)
                clock.advance(by: .milliseconds(100))
                allowed += 100
                stage.group.loops[0].wake()
            }
            #expect(pair.sink.log.value.sent == 2_000)
            await stage.origin.gate("body").wait()
            stage.origin.gate("go").open()
            await pair.sink.ended.wait()
            #expect(pair.sink.text == "ok")
        }
    }

    // MARK: turns of the loop

    @Test("an exchange that is cancelled in the turn of its submission is not sent; others are")
    func cancelledInTheTurnOfItsSubmission() async throws {
        try await withPool { stage in
            try await stage.send(.get, "/bytes/1")
            let cancelled = try stage.exchange(.get, "/bytes/2")
            let kept = try stage.exchange(.get, "/bytes/3")
            let loop = stage.group.loops[0]
            _ = loop.execute {
                stage.pool.submit(cancelled.exchange)
                cancelled.exchange.cancel()
                stage.pool.submit(kept.exchange)
            }
            await cancelled.sink.ended.wait()
            await kept.sink.ended.wait()
            #expect(cancelled.sink.failure == .cancelled && cancelled.sink.log.value.ends == 1)
            #expect(kept.sink.failure == nil && kept.sink.log.value.body.count == 3)
            let wire = (0..<stage.origin.counts.connectionsAccepted).map {
                String(decoding: stage.origin.received(on: $0), as: UTF8.self)
            }.joined()
            #expect(wire.contains("/bytes/1") && wire.contains("/bytes/3"))
            #expect(!wire.contains("/bytes/2"))
        }
    }

    // MARK: metrics

    @Test(.timeLimit(.minutes(10))) func milestonesInOrder() async throws {
        try await withPool { stage in
            let first = try #require(
                try await stage.send(.post, "/post", content: .bytes([1, 2, 3])).metrics)
            let dial = try #require(first.dial)
            #expect(dial.lookUpStart == nil && dial.lookUpEnd == nil, "the origin's address was known")
            let steps = [
                first.fetchStart, dial.connectStart, dial.connectEnd,
                first.requestStart, first.requestEnd, first.responseStart, first.responseEnd,
            ]
            let known = steps.compactMap { $0 }
            #expect(known.count == steps.count && known == known.sorted())
            #expect(!first.isReused && !first.wasReplayed && !first.usedProxy && first.version == .http11)
            #expect(first.remoteAddress == stage.origin.address)
            #expect(first.localAddress?.host == "127.0.0.1" && first.localAddress?.port != 0)
            #expect(first.requestContentBytes == 3)
            let wire = stage.origin.received(on: 0)
            #expect(first.requestHeadBytes == wire.count - 3)

            let sink = try await stage.send(.get, "/bytes/777")
            let second = try #require(sink.metrics)
            #expect(second.isReused && second.dial == nil && second.localAddress == first.localAddress)
            #expect(second.responseContentBytes == 777 && second.requestContentBytes == 0)
            #expect(second.requestStart ?? .zero >= first.responseEnd ?? .distantFuture)
            let received =
                [first, second].reduce(0) { $0 + $1.responseHeadBytes + Int($1.responseContentBytes) }
            // The origin counts after its system call has returned, when the client may have read everything already.
            while stage.origin.counts.bytesSent < received { await Task.yield() }
            #expect(stage.origin.counts.bytesSent == received)
        }
    }
}

/// Answers `hello` with `ping`, and records everything that it receives.
private final class PingHandler: UpgradeHandler {
    private let connection: UpgradedConnection
    private let receivedText: Box<String>
    private let closed: Gate
    private let last: String?

    init(_ connection: UpgradedConnection, receivedText: Box<String>, closed: Gate, closesAfter last: String?)
    {
        self.connection = connection
        self.receivedText = receivedText
        self.closed = closed
        self.last = last
    }

    func received(_ bytes: Span<UInt8>) -> Demand {
        var text: [UInt8] = []
        for index in bytes.indices { text.append(bytes[index]) }
        receivedText.update { $0 += String(decoding: text, as: UTF8.self) }
        if receivedText.value == "hello" { _ = connection.send(Array("ping".utf8)) }
        return receivedText.value == last ? .enough : .more
    }

    func drained() {}

    func closed(_ error: TransportError?) {
        if let error { receivedText.update { $0 += "!\(error)" } }
        closed.open()
    }
}
