// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineTLS
import LupineTestKit
import LupineTransport
import Testing

@testable import LupineOrigin

@Suite struct ConversationTests {
    private static let get = "GET /get HTTP/1.1\r\nHost: a\r\n\r\n"

    @Test func everyCutOfARequestIsTheSameRequest() async throws {
        try await withClient { client, _ in
            let request = Array("POST /hash HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc".utf8)
            for cut in 0...request.count {
                try client.send(Array(request[..<cut]))
                try client.send(Array(request[cut...]))
                #expect(try client.receiveResponse().text.contains("ba7816bf"), "cut at \(cut)")
            }
            for octet in request { try client.send([octet]) }
            #expect(try client.receiveResponse().status == 200)
        }
    }

    @Test func pipelinedRequestsAreAnsweredInOrder() async throws {
        try await withClient { client, origin in
            let requests = (0..<200).map { "GET /anything/\($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined()
            try client.send(requests)
            for index in 0..<200 {
                #expect(try client.receiveResponse().text.contains("http://a/anything/\(index)\""))
            }
            #expect(origin.counts.requests == 200)
            #expect(origin.counts.connectionsAccepted == 1)
        }
    }

    @Test func pipelinedBehindASlowOne() async throws {
        try await withClient { client, origin in
            let gate = Gate()
            origin.route("GET", "/held") { _ throws(Refusal) in
                var response = OriginResponse(204)
                response.gate = gate
                return response
            }
            try client.send("GET /held HTTP/1.1\r\nHost: a\r\n\r\n" + Self.get)
            gate.open()
            #expect(try client.receiveResponse().status == 204)
            #expect(try client.receiveResponse().status == 200)
        }
    }

    private static let upgrade =
        " HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"

    @Test("a control frame that would be too long is refused", arguments: ["ping", "pong"])
    func longControlFrames(_ kind: String) async throws {
        for (count, status) in [(125, 101), (126, 400)] {
            try await withClient { client, _ in
                try client.send(
                    "GET /websocket?\(kind)=\(String(repeating: "a", count: count))" + Self.upgrade)
                #expect(try client.receiveHead().status == status)
            }
        }
    }

    @Test(
        "a frame that is none ends a web socket, also one that leaves close frames unanswered",
        arguments: [0, 1])
    func brokenFrames(mute: Int) async throws {
        try await withClient { client, _ in
            try client.send("GET /websocket?mute=\(mute)" + Self.upgrade)
            #expect(try client.receiveHead().status == 101)
            try client.send([0xF1, 0x80, 0x61, 0x62, 0x63, 0x64])
            // A close frame with code 1002, then the end of the connection.
            #expect(try client.receiveAll().prefix(4) == [0x88, UInt8(2), 0x03, 0xEA])
        }
    }

    struct Refused: CustomTestStringConvertible {
        let shows: String
        let request: String
        let status: Int
        var testDescription: String { shows }
    }

    @Test(arguments: [
        Refused(shows: "no HTTP", request: "\u{16}\u{3}\u{1}", status: 400),
        Refused(shows: "no host", request: "GET / HTTP/1.1\r\n\r\n", status: 400),
        Refused(shows: "bare LF", request: "GET / HTTP/1.1\nHost: a\n\n", status: 400),
        Refused(
            shows: "two lengths", request: "POST /post HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 2\r\n\r\n",
            status: 400),
        Refused(
            shows: "length and chunks",
            request:
                "POST /post HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
            status: 400),
        Refused(
            shows: "a chunk that is none",
            request: "POST /post HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
            status: 400),
        Refused(shows: "another version", request: "GET / HTTP/2.0\r\nHost: a\r\n\r\n", status: 505),
        Refused(shows: "HTTP/2", request: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", status: 505),
        Refused(
            shows: "a line that is too long",
            request: "GET /\(String(repeating: "x", count: 70_000)) HTTP/1.1\r\nHost: a\r\n\r\n", status: 431),
        Refused(
            shows: "a body that is too long",
            request: "POST /post HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\n\r\n",
            status: 413),
    ])
    func whatIsNoRequestIsRefusedAndTheConnectionClosed(_ row: Refused) async throws {
        try await withClient { client, _ in
            try client.send(row.request)
            let response = try client.receiveResponse()
            #expect(response.status == row.status)
            #expect(response["Connection"] == "close")
            #expect(try client.receiveAll() == [])
        }
    }

    @Test func aChunkedBodyOverTheLimitIsRefused() async throws {
        var configuration = OriginConfiguration()
        configuration.maximumCollectedBytes = 10
        try await withClient(configuration) { client, _ in
            try client.send("POST /post HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
            try client.send("6\r\nabcdef\r\n5\r\nghijk\r\n")
            #expect(try client.receiveResponse().status == 413)
            #expect(try client.receiveAll() == [])
        }
    }

    @Test func headIsGetWithoutContent() async throws {
        try await withClient { client, _ in
            for path in ["/get", "/bytes/1000", "/stream/3", "/image/png", "/range/1000000"] {
                let response = try client.request("HEAD", path)
                #expect(response.status == 200)
                #expect(response["Content-Length"] != nil || response["Transfer-Encoding"] == "chunked")
            }
            #expect(try client.get("/get").status == 200)
        }
    }

    @Test func http10() async throws {
        try await withClient { client, origin in
            try client.send("GET /stream/2 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            let stream = try client.receiveResponse()
            #expect(stream["Connection"] == "close")
            #expect(stream["Transfer-Encoding"] == nil)
            #expect(stream.text.contains("\"id\": 1"))
            let other = try RawClient(port: origin.port)
            try other.send("GET /get HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            #expect(try other.receiveResponse()["Connection"] == "keep-alive")
            try other.send("GET /get HTTP/1.0\r\n\r\n")
            #expect(try other.receiveResponse()["Connection"] == "close")
            #expect(try other.receiveAll() == [])
        }
    }

    @Test func aClientThatClosesItsHalfIsAnsweredStill() async throws {
        try await withClient { client, _ in
            try client.send(Self.get + "GET /delay/0.02 HTTP/1.1\r\nHost: a\r\n\r\n")
            client.closeOurHalf()
            #expect(try client.receiveResponse().status == 200)
            #expect(try client.receiveResponse().status == 200)
            #expect(try client.receiveAll() == [])
        }
    }

    @Test func closingInsideARequestEndsTheConnection() async throws {
        try await withClient { client, _ in
            try client.send("POST /post HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc")
            client.closeOurHalf()
            #expect(try client.receiveAll() == [])
        }
    }

    @Test func continueIsSentWhenTheBodyIsWanted() async throws {
        try await withClient { client, _ in
            let head = "Host: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n"
            try client.send("POST /hash HTTP/1.1\r\n" + head)
            #expect(try client.receiveHead().status == 100)
            try client.send("abc")
            #expect(try client.receiveResponse().status == 200)
            try client.send("POST /nowhere HTTP/1.1\r\n" + head)
            let refusal = try client.receiveResponse()
            #expect(refusal.status == 404)
            #expect(refusal["Connection"] == "close", "nobody knows whether the body follows")
        }
    }

    @Test func anEarlyAnswerLeavesTheBodyToBeDropped() async throws {
        try await withClient { client, _ in
            try client.send("POST /nowhere HTTP/1.1\r\nHost: a\r\nContent-Length: 400000\r\n\r\n")
            #expect(try client.receiveResponse().status == 404)
            try client.send([UInt8](repeating: 120, count: 400_000))
            #expect(try client.get("/get").status == 200)
        }
    }

    @Test func aTestsOwnRoutes() async throws {
        try await withClient { client, origin in
            origin.route("GET", "/x/{name}") { request throws(Refusal) in
                var response = try OriginResponse(200, "text/plain", Array(request.parameters[0].utf8))
                response.reason = "Fine"
                response.interim = [ResponseHead(status: Status(103))]
                response.closesConnection = true
                return response
            }
            try client.send("GET http://elsewhere/x/a%20b?c HTTP/1.1\r\nHost: elsewhere\r\n\r\n")
            #expect(try client.receiveHead().status == 103)
            let response = try client.receiveResponse()
            #expect(response.head.hasPrefix("HTTP/1.1 200 Fine\r\n"))
            #expect(response.text == "a b")
            #expect(try client.receiveAll() == [])
        }
    }

    @Test func aLargeBodyIsHashedAsItComes() async throws {
        try await withClient { client, origin in
            let piece = [UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000)
            try client.send("POST /hash HTTP/1.1\r\nHost: a\r\nContent-Length: 4000000\r\n\r\n")
            let hash = try #require(RunningDigest(.sha256))
            for _ in 0..<4 {
                try client.send(piece)
                hash.update(piece.span)
            }
            let digest = try #require(hash.finish())
            #expect(try client.receiveResponse().text.contains(Hexadecimal.lowercase(digest)))
            #expect(origin.counts.bytesReceived > 4_000_000)
        }
    }

    @Test func aLargeBodyComesWhole() async throws {
        try await withClient { client, _ in
            let response = try client.get("/bytes/20000000?seed=1")
            var source = SeededOctets(seed: 1)
            var expected: [UInt8] = []
            source.append(20_000_000, to: &expected)
            #expect(response.body == expected)
        }
    }

    @Test func aBodyThatIsNotCopiedComesWhole() async throws {
        try await withClient { client, origin in
            let body = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 13 >> 3) }
            origin.route("GET", "/large") { _ throws(Refusal) in try OriginResponse(200, "a/b", body) }
            try client.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n" + Self.get)
            #expect(try client.receiveResponse().body == body)
            #expect(try client.receiveResponse().status == 200)
        }
    }

    /// Checks that for a client that does not read, the origin produces only what fits into the kernel and one high-water mark.
    @Test func aClientThatDoesNotReadHoldsTheBodyBack() async throws {
        try await withOrigin { origin in
            let made = Lock(0)
            origin.route("GET", "/endless") { _ throws(Refusal) in
                OriginResponse(
                    body: .stream(length: nil) { piece, room in
                        piece += repeatElement(7, count: room)
                        made.withLock { $0 += room }
                        return .more
                    })
            }
            let client = try RawClient(port: origin.port, receiveBuffer: 4_096)
            try client.send("GET /endless HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try client.receiveHead().status == 200)
            // Another connection of the same loop is served a hundred times: meanwhile only what the kernel has room for is
            // produced.
            let other = try RawClient(port: origin.port)
            for _ in 0..<100 { _ = try other.get("/get") }
            let sent = origin.counts.bytesSent
            let inMemory = made.withLock { $0 } - sent
            #expect(inMemory <= ServerConnection.pendingOutputLimit + (16 << 10))
        }
    }

    @Test func aThousandConnections() async throws {
        try await withOrigin { origin in
            let clients = try (0..<1_000).map { _ in try RawClient(port: origin.port) }
            for client in clients { try client.send(Self.get) }
            for client in clients { #expect(try client.receiveResponse().status == 200) }
            #expect(origin.counts.connectionsOpen == 1_000)
            for client in clients { try client.send("GET /bytes/100 HTTP/1.1\r\nHost: a\r\n\r\n") }
            for client in clients { #expect(try client.receiveResponse().body.count == 100) }
        }
    }

    @Test func moreConnectionsThanAllowedAreClosed() async throws {
        var configuration = OriginConfiguration()
        configuration.maximumConnections = 1
        try await withOrigin(configuration) { origin in
            let first = try RawClient(port: origin.port)
            #expect(try first.get("/get").status == 200)
            #expect(try RawClient(port: origin.port).receiveAll() == [])
        }
    }

    @Test func silenceEndsAConnection() async throws {
        var configuration = OriginConfiguration()
        configuration.idleTimeout = .milliseconds(20)
        try await withClient(configuration) { client, _ in
            let response = try client.get("/get")
            #expect(response.status == 200)
            #expect(try client.receiveAll() == [])
        }
    }

    @Test func silenceThatIsOursEndsNothing() async throws {
        var configuration = OriginConfiguration()
        configuration.idleTimeout = .milliseconds(5)
        try await withClient(configuration) { client, _ in
            let response = try client.get("/delay/0.05")
            #expect(response.status == 200)
        }
    }

    @Test func unixDomainSockets() async throws {
        let path = "/tmp/lupine-origin-\(UInt64.random(in: 0...UInt64.max))"
        let origin = try Origin.start(at: .unix(path: path))
        #expect(try RawClient(path: path).get("/get").status == 200)
        await origin.shutdown()
        #expect(throws: RawClient.Failure.self) { try RawClient(path: path) }
    }

    @Test func severalOriginsShareLoops() async throws {
        let loops = try EventLoopGroup(count: 2)
        let first = try Origin.start(loops: loops)
        let second = try Origin.start(host: "127.0.0.1", loops: loops)
        let client = try RawClient(port: first.port)
        #expect(try client.get("/get").status == 200)
        #expect(try RawClient(port: second.port).get("/get").status == 200)
        await first.shutdown()
        #expect(try client.receiveAll() == [])
        #expect(first.counts.connectionsOpen == 0)
        #expect(try RawClient(port: second.port).get("/get").status == 200)
        second.shutdownAndWait()
        await loops.shutdown()
    }

    @Test func aHostNameIsNoAddress() {
        #expect(throws: OriginError.notAnAddress("localhost")) { try Origin.start(host: "localhost") }
    }

    @Test func aPortThatIsTakenSaysSo() async throws {
        try await withOrigin { origin in
            #expect(throws: OriginError.cannotListen(at: origin.address, .addressInUse)) {
                try Origin.start(at: origin.address)
            }
            #expect(origin.counts.connectionsAccepted == 0)
        }
    }

    @Test func bytesAreRecordedWhenAskedFor() async throws {
        var configuration = OriginConfiguration()
        configuration.recordedBytes = 20
        try await withClient(configuration) { client, origin in
            _ = try client.get("/get")
            #expect(origin.received(on: 0) == Array("GET /get HTTP/1.1\r\nHo".utf8.prefix(20)))
            #expect(origin.received(on: 1) == [])
        }
    }
}
