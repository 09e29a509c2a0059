// SPDX-License-Identifier: MIT

import Testing

@testable import LupineHTTP

@Suite struct ServerCodecTests {
    /// A server's codec and the octets that it has written.
    struct Server {
        var codec = ServerCodec()
        var sent: [UInt8] = []

        /// Returns descriptions of the events that the codec reads from `text`; drops unconsumed octets.
        @discardableResult
        mutating func receive(_ text: String) throws(HTTPError) -> [String] {
            var unread = Array(text.utf8)
            var names: [String] = []
            while true {
                let (event, consumed) = try codec.next(unread.span)
                unread.removeFirst(consumed)
                switch event {
                case .needMore: return names
                case .head(let head, _, _): names.append("head \(head.method)")
                case .content(let range): names.append("content \(range.count)")
                case .end: names.append("end")
                }
            }
        }

        /// Sends a response with the content `pieces` and returns the octets written, as text.
        mutating func answer(
            _ code: Int, _ body: OutgoingBody, _ pieces: [String] = [], close: Bool = false,
            fields lines: (String, String)...
        ) throws -> String {
            sent = []
            var fields = Fields()
            for (name, value) in lines { try fields.append(FieldName(name), value) }
            let head = ResponseHead(status: Status(code), fields: fields)
            try codec.send(head, body: body, close: close, into: &sent)
            if body != .none {
                for piece in pieces {
                    try codec.sendContent(piece.utf8.count, into: &sent)
                    if !codec.omitsContent { sent += piece.utf8 }
                }
                try codec.sendEnd(into: &sent)
            }
            return sent.span.text(0..<sent.count)
        }
    }

    struct Row: Sendable, CustomStringConvertible {
        let description: String
        let request: String
        var code = 200
        var body = OutgoingBody.known(2)
        var pieces = ["ok"]
        var close = false
        let wire: String
        let mayContinue: Bool
    }

    static let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
    static let head = "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n"
    static let http10Get = "GET / HTTP/1.0\r\n\r\n"
    static let http10KeepAliveGet = "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"
    static let connect = "CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n"

    static let rows = [
        Row(
            description: "a known length", request: get,
            wire: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", mayContinue: true),
        Row(
            description: "an unknown length", request: get, body: .unknown, pieces: ["o", "k"],
            wire: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\no\r\n1\r\nk\r\n0\r\n\r\n",
            mayContinue: true),
        Row(
            description: "no body", request: get, code: 404, body: .none,
            wire: "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", mayContinue: true),
        Row(
            description: "the last response", request: get, close: true,
            wire: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok", mayContinue: false),
        Row(
            description: "a client that will close",
            request: "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
            wire: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok", mayContinue: false),
        Row(
            description: "no content for HEAD", request: head,
            wire: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", mayContinue: true),
        Row(
            description: "no chunks for HEAD", request: head, body: .unknown,
            wire: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", mayContinue: true),
        Row(
            description: "204 has no content", request: get, code: 204,
            wire: "HTTP/1.1 204 No Content\r\n\r\n", mayContinue: true),
        Row(
            description: "304 has no content", request: get, code: 304, body: .unknown,
            wire: "HTTP/1.1 304 Not Modified\r\n\r\n", mayContinue: true),
        Row(
            description: "HTTP/1.0", request: http10Get,
            wire: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok", mayContinue: false),
        Row(
            description: "HTTP/1.0 with keep-alive", request: http10KeepAliveGet,
            wire: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nok",
            mayContinue: true),
        Row(
            description: "no chunks in HTTP/1.0", request: http10KeepAliveGet, body: .unknown,
            pieces: ["o", "k"],
            wire: "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nok", mayContinue: false),
        Row(
            description: "an accepted tunnel", request: connect, body: .none,
            wire: "HTTP/1.1 200 OK\r\n\r\n", mayContinue: false),
        Row(
            description: "a refused tunnel", request: connect, code: 403,
            wire: "HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok",
            mayContinue: false),
        Row(
            description: "an upgrade",
            request: "GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n", code: 101,
            body: .none, wire: "HTTP/1.1 101 Switching Protocols\r\n\r\n", mayContinue: false),
    ]

    @Test(arguments: rows) func responses(_ row: Row) throws {
        var server = Server()
        try server.receive(row.request)
        #expect(try server.answer(row.code, row.body, row.pieces, close: row.close) == row.wire)
        #expect(server.codec.mayContinue == row.mayContinue)
        #expect(server.codec.isExchangeComplete)
    }

    @Test func fieldsFollowTheFraming() throws {
        var server = Server()
        try server.receive(Self.get)
        #expect(
            try server.answer(200, .none, fields: ("A", "b"), ("a", "c"))
                == "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nA: b\r\na: c\r\n\r\n")
    }

    @Test(arguments: ["Content-Length", "transfer-encoding"])
    func framingFieldsAreRefused(_ name: String) throws {
        var server = Server()
        try server.receive(Self.get)
        #expect(throws: HTTPError.self) { _ = try server.answer(200, .none, fields: (name, "0")) }
        #expect(server.sent.isEmpty)
    }

    @Test(arguments: ["a\r\nb", "a\0", "a\nb", "a\u{7F}"])
    func aReasonCannotInjectLines(_ reason: String) throws {
        var server = Server()
        try server.receive(Self.get)
        #expect(throws: HTTPError.self) {
            try server.codec.send(
                ResponseHead(status: Status(200), reason: reason), body: .none, into: &server.sent)
        }
        #expect(server.sent.isEmpty)
    }

    @Test func aConnectionCloseFieldMarksTheLastResponse() throws {
        var server = Server()
        try server.receive(Self.get)
        #expect(
            try server.answer(200, .none, fields: ("Connection", "Close"))
                == "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: Close\r\n\r\n")
        #expect(!server.codec.mayContinue)
        #expect(try server.receive(Self.get) == [])
    }

    @Test func anErrorResponseIgnoresTheMethodAndVersionBefore() throws {
        var server = Server()
        try server.receive("HEAD / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        _ = try server.answer(200, .known(2), ["ok"])
        #expect(server.codec.mayContinue)
        #expect(throws: HTTPError.self) { try server.receive("G(T / HTTP/1.1\r\n") }
        #expect(
            try server.answer(400, .unknown, ["no"])
                == "HTTP/1.1 400 Bad Request\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
                + "2\r\nno\r\n0\r\n\r\n")
        #expect(!server.codec.mayContinue)
    }

    @Test func interimResponsesComeBeforeTheFinalOne() throws {
        var server = Server()
        try server.receive("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
        #expect(server.codec.continueIsExpected)
        try server.codec.sendInterim(ResponseHead(status: Status(100)), into: &server.sent)
        #expect(server.sent == Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
        #expect(try server.receive("ok") == ["content 2", "end"])
        #expect(!server.codec.continueIsExpected)
        #expect(try server.answer(204, .none) == "HTTP/1.1 204 No Content\r\n\r\n")
        #expect(server.codec.mayContinue)
    }

    @Test func aClientOfHTTP10GetsNoInterimResponse() throws {
        var server = Server()
        try server.receive(Self.http10Get)
        try server.codec.sendInterim(ResponseHead(status: Status(103)), into: &server.sent)
        #expect(server.sent.isEmpty)
    }

    @Test func anExchangeEndsAfterAnEarlyResponseAndItsRequest() throws {
        var server = Server()
        try server.receive("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nab")
        _ = try server.answer(200, .none)
        #expect(!server.codec.isExchangeComplete)
        #expect(try server.receive("cd") == ["content 2", "end"])
        #expect(try server.receive(Self.get) == ["head GET", "end"])
    }

    /// Checks that a server that times out while waiting for a request responds and closes: later input is not read as a request.
    @Test(arguments: ["", "GET / HT"]) func aResponseWithoutARequestIsTheLast(_ input: String) throws {
        var server = Server()
        #expect(try server.receive(input) == [])
        #expect(
            try server.answer(408, .none)
                == "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        #expect(try server.receive(Self.get) == [])
        #expect(!server.codec.mayContinue && !server.codec.isExchangeComplete)
    }

    @Test(arguments: [100, 102, 103, 199]) func anInterimStatusCannotBeFinal(_ code: Int) async {
        let result = await #expect(processExitsWith: .failure) { [code] in
            var server = Server()
            _ = try? server.receive(Self.get)
            _ = try? server.answer(code, .none)
        }
        #expect(result != nil)
    }

    @Test func aCloseBetweenRequestsIsNoError() throws {
        var server = Server()
        try server.codec.peerClosed()
        #expect(!server.codec.mayContinue)
        server = Server()
        try server.receive(Self.get)
        try server.codec.peerClosed()
        #expect(try server.answer(200, .none).contains("Connection: close"))
    }

    @Test func anErrorIsPermanent() throws {
        var server = Server()
        #expect(throws: HTTPError.self) { try server.receive("GET / HTTP/1.1\r\nHost : a\r\n\r\n") }
        #expect(throws: HTTPError.whitespaceBeforeColon(offset: 20)) { try server.receive(Self.get) }
        #expect(throws: HTTPError.whitespaceBeforeColon(offset: 20)) { try server.codec.peerClosed() }
        #expect(!server.codec.mayContinue)
    }

    @Test func lengthsMustMatch() throws {
        var server = Server()
        try server.receive(Self.get)
        #expect(throws: HTTPError.bodyLengthMismatch(announced: 3, given: 2)) {
            _ = try server.answer(200, .known(3), ["ok"])
        }
        server = Server()
        try server.receive(Self.get)
        #expect(throws: HTTPError.bodyLengthMismatch(announced: -3, given: 0)) {
            _ = try server.answer(200, .known(-3))
        }
        #expect(server.sent.isEmpty)
    }
}
