// SPDX-License-Identifier: MIT

import Testing

@testable import LupineHTTP

@Suite struct ClientCodecTests {
    /// A client's codec and the octets that it has written.
    struct Client {
        var codec = ClientCodec()
        var sent: [UInt8] = []

        mutating func send(
            _ method: Method = .get, _ body: OutgoingBody = .none, version: HTTPVersion = .http11,
            expectContinue: Bool = false, fields lines: (String, String)...
        ) throws {
            var fields = Fields()
            for (name, value) in lines { try fields.append(FieldName(name), value) }
            let authority = try Authority(host: "a", port: 80, defaultPort: 80)
            let head = RequestHead(
                method: method, target: method == .connect ? .authority(authority) : .origin("/"),
                authority: authority, version: version, fields: fields)
            try codec.send(head, body: body, expectContinue: expectContinue, into: &sent)
        }

        /// Returns descriptions of the events that the codec reads from `text`.
        @discardableResult
        mutating func receive(_ text: String) throws(HTTPError) -> [String] {
            var unread = Array(text.utf8)
            var names: [String] = []
            while true {
                let (event, consumed) = try codec.next(unread.span)
                unread.removeFirst(consumed)
                switch event {
                case .needMore: return names
                case .interim(let head): names.append("interim \(head.status)")
                case .head(let head, _, _): names.append("head \(head.status)")
                case .content(let range): names.append("content \(range.count)")
                case .end: names.append("end")
                case .handover:
                    names.append("handover \(unread.count)")
                    return names
                }
            }
        }
    }

    @Test func negativeLimitsCountAsZero() throws {
        var limits = ParserLimits()
        limits.headBytes = -1
        limits.fieldCount = .min
        limits.lineBytes = -1
        limits.interimHeads = -1
        limits.chunkExtensionBytes = .min
        var client = Client(codec: ClientCodec(limits: limits))
        try client.send()
        #expect(throws: HTTPError.limitExceeded(.headBytes, allowed: 0)) { try client.receive(Self.ok) }
    }

    @Test func aCodecThatContinuesOnAnotherConnectionHasItsLimits() throws {
        var client = Client()
        try client.send()
        #expect(try client.receive(Self.ok) == ["head 200", "content 2", "end"])
        var limits = ParserLimits()
        limits.fieldCount = 0
        client.codec.configure(limits: limits, leniency: .client)
        try client.send()
        #expect(throws: HTTPError.limitExceeded(.fieldCount, allowed: 0)) { try client.receive(Self.ok) }
    }

    static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    @Test(arguments: [
        ("", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", true),
        ("", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", true),
        ("", "HTTP/1.1 204 No Content\r\n\r\n", true), ("", "HTTP/1.1 304 Not Modified\r\n\r\n", true),
        ("", "HTTP/1.1 100 Continue\r\nConnection: close\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n", true),
        ("", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n", true),
        ("", "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", false),
        ("", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", false),
        ("", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no", false),
        ("", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", false),
        ("", "HTTP/1.1 200 OK\r\n\r\nok", false), ("", "HTTP/1.1 100 Continue\r\n\r\n", false),
        ("keep-alive", "HTTP/1.1 204 No Content\r\n\r\n", true),
        ("close", "HTTP/1.1 204 No Content\r\n\r\n", false),
        ("TE, Close", "HTTP/1.1 204 No Content\r\n\r\n", false),
        ("close", "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n", false),
        ("closed", "HTTP/1.1 204 No Content\r\n\r\n", true),
    ])
    func reuse(_ connection: String, _ response: String, _ maySendRequest: Bool) throws {
        var client = Client()
        #expect(client.codec.maySendRequest)
        if connection.isEmpty {
            try client.send()
        } else {
            try client.send(.get, fields: ("Connection", connection))
        }
        #expect(!client.codec.maySendRequest)
        try client.receive(response)
        #expect(client.codec.maySendRequest == maySendRequest)
    }

    @Test func aConnectionIsNotReusedAfterAnHTTP10Request() throws {
        var client = Client()
        try client.send(version: .http10)
        try client.receive("HTTP/1.1 204 No Content\r\n\r\n")
        #expect(!client.codec.maySendRequest)
    }

    @Test func exchangesFollowOneAnother() throws {
        var client = Client()
        for round in 0..<3 {
            try client.send()
            #expect(client.codec.requestIsSent)
            #expect(try client.receive(Self.ok) == ["head 200", "content 2", "end"], "round \(round)")
            #expect(client.codec.maySendRequest)
        }
    }

    @Test func aRequestIsNotAffectedByThePreviousOne() throws {
        var client = Client()
        try client.send(.head, fields: ("Upgrade", "x"))
        #expect(try client.receive("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n") == ["head 200", "end"])
        try client.send()
        #expect(try client.receive(Self.ok) == ["head 200", "content 2", "end"])
        try client.send()
        #expect(throws: HTTPError.unexpectedUpgrade) {
            try client.receive("HTTP/1.1 101 Switching Protocols\r\n\r\n")
        }
    }

    @Test func theInterimLimitAppliesPerExchange() throws {
        var limits = ParserLimits()
        limits.interimHeads = 1
        var client = Client(codec: ClientCodec(limits: limits))
        for _ in 0..<3 {
            try client.send()
            try client.receive("HTTP/1.1 100 Continue\r\n\r\n" + Self.ok)
        }
        #expect(client.codec.maySendRequest)
    }

    @Test func aResponseMayEndBeforeItsRequest() throws {
        var client = Client()
        try client.send(.post, .known(4))
        try client.codec.sendContent(2, into: &client.sent)
        #expect(try client.receive(Self.ok) == ["head 200", "content 2", "end"])
        #expect(!client.codec.maySendRequest)
        #expect(!client.codec.requestIsSent)
        try client.codec.sendContent(2, into: &client.sent)
        try client.codec.sendEnd(into: &client.sent)
        #expect(client.codec.maySendRequest)
    }

    @Test func aConnectionIsNotReusedAfterATruncatedBody() throws {
        var client = Client()
        try client.send(.post, .known(4))
        try client.codec.sendContent(2, into: &client.sent)
        #expect(throws: HTTPError.bodyLengthMismatch(announced: 4, given: 2)) {
            try client.codec.sendEnd(into: &client.sent)
        }
        try client.receive(Self.ok)
        #expect(!client.codec.maySendRequest)
    }

    @Test func aChunkedRequest() throws {
        var client = Client()
        try client.send(.post, .unknown)
        client.sent = []
        for piece in ["hello", ", ", "world"] {
            try client.codec.sendContent(piece.utf8.count, into: &client.sent)
            client.sent += piece.utf8
        }
        var trailers = Fields()
        try trailers.append(FieldName("Digest"), "x")
        try client.codec.sendEnd(trailers: trailers, into: &client.sent)
        #expect(
            client.sent
                == Array("5\r\nhello\r\n2\r\n, \r\n5\r\nworld\r\n0\r\nDigest: x\r\n\r\n".utf8))
        #expect(client.codec.requestIsSent)
    }

    @Test(arguments: [
        ("HTTP/1.1 100 Continue\r\n\r\n", "interim 100"), ("HTTP/1.1 103 Early Hints\r\n\r\n", "interim 103"),
        ("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n", "head 417"),
    ])
    func anyResponseEndsTheWaitForContinue(_ answer: String, _ event: String) throws {
        var client = Client()
        try client.send(.put, .known(2), expectContinue: true)
        #expect(client.codec.awaitsContinue)
        try client.receive(String(answer.prefix(10)))
        #expect(client.codec.awaitsContinue)
        #expect(try client.receive(String(answer.dropFirst(10))).first == event)
        #expect(!client.codec.awaitsContinue)
    }

    @Test(arguments: [OutgoingBody.none, .known(0)])
    func noExpectFieldWithoutContent(_ body: OutgoingBody) throws {
        var client = Client()
        try client.send(.put, body, expectContinue: true)
        #expect(!client.codec.awaitsContinue)
        #expect(!client.sent.span.text(0..<client.sent.count).contains("Expect"))
    }

    @Test func noExpectFieldInHTTP10() throws {
        var client = Client()
        try client.send(.put, .known(2), version: .http10, expectContinue: true)
        #expect(!client.codec.awaitsContinue)
        #expect(!client.sent.span.text(0..<client.sent.count).contains("Expect"))
    }

    @Test func aRefusedRequestLeavesTheConnectionUnchanged() throws {
        var client = Client()
        #expect(throws: HTTPError.self) { try client.send(.post, .known(1), fields: ("Content-Length", "1")) }
        #expect(client.sent.isEmpty)
        #expect(client.codec.maySendRequest)
        try client.send()
        #expect(try client.receive(Self.ok).last == "end")
    }

    @Test func aNegativeLengthIsRefused() throws {
        var client = Client()
        #expect(throws: HTTPError.bodyLengthMismatch(announced: -5, given: 0)) {
            try client.send(.post, .known(-5))
        }
        #expect(client.sent.isEmpty)
        #expect(client.codec.maySendRequest)
    }

    @Test(arguments: ["H", "HTTP/1.1 200 OK\r\n\r\n", "\r\n"])
    func bytesBeforeARequestAreAnError(_ text: String) throws {
        var client = Client()
        #expect(throws: HTTPError.unexpectedBytes(octet: text.utf8.first ?? 0)) { try client.receive(text) }
        #expect(!client.codec.maySendRequest)
    }

    @Test func anErrorIsPermanent() throws {
        var client = Client()
        try client.send()
        let error = HTTPError.notHTTP(octet: 0x53, offset: 0)
        #expect(throws: error) { try client.receive("SSH-2.0") }
        #expect(throws: error) { try client.receive(Self.ok) }
        #expect(throws: error) { try client.receive("") }
        #expect(throws: error) { _ = try client.codec.peerClosed() }
        #expect(!client.codec.maySendRequest)
    }

    @Test func aCloseBetweenExchangesIsNoError() throws {
        var client = Client()
        guard case .needMore = try client.codec.peerClosed() else {
            Issue.record("an unexpected event")
            return
        }
        #expect(!client.codec.maySendRequest)
        client = Client()
        try client.send()
        try client.receive(Self.ok)
        guard case .needMore = try client.codec.peerClosed() else {
            Issue.record("an unexpected event")
            return
        }
        #expect(!client.codec.maySendRequest)
    }

    @Test func nothingIsParsedAfterAHandover() throws {
        var client = Client()
        try client.send(.connect)
        #expect(try client.receive("HTTP/1.1 200 OK\r\n\r\nraw") == ["head 200", "handover 3"])
        #expect(!client.codec.maySendRequest)
        #expect(try client.receive("more") == ["handover 4"])
    }

    @Test func aRefusedTunnelLeavesTheConnectionAlive() throws {
        var client = Client()
        try client.send(.connect)
        try client.receive("HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
        #expect(client.codec.maySendRequest)
    }
}
