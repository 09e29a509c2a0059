// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineHTTP2
import Testing

/// Tests of the header lists into which heads are encoded, and of heads that cannot be sent.
@Suite struct MessageEncoderTests {
    struct Row: CustomTestStringConvertible {
        let title: String
        var method = Method.get
        var target = RequestTarget.origin("/")
        var host: String? = "a.example"
        var fields: [(String, String)] = []
        var body = OutgoingBody.none
        var expected: [String] = []
        var error: HTTPError?
        var testDescription: String { title }
    }

    private static let get = [":method: GET", ":scheme: https", ":authority: a.example", ":path: /"]

    static let rows: [Row] = [
        Row(title: "a request", expected: get),
        Row(
            title: "field names in lowercase", fields: [("Accept", "*/*"), ("X-Y", "Z")],
            expected: get + ["accept: */*", "x-y: Z"]),
        Row(
            title: "[H-8.17] connection-specific fields are not sent",
            fields: [
                ("Connection", "keep-alive, X-Hop"), ("Keep-Alive", "a"), ("Proxy-Connection", "a"),
                ("Upgrade", "b"),
                ("x-hop", "c"), ("TE", "gzip"), ("a", "b"),
            ], expected: get + ["a: b"]),
        Row(title: "TE: trailers", fields: [("TE", "trailers")], expected: get + ["te: trailers"]),
        Row(
            title: "a host among the fields", fields: [("Host", "b.example:8080")],
            expected: [":method: GET", ":scheme: https", ":authority: b.example:8080", ":path: /"]),
        Row(
            title: "a known length", method: .post, body: .known(5),
            expected: [":method: POST"] + get.dropFirst() + ["content-length: 5"]),
        Row(
            title: "an unknown length", method: .post, body: .unknown,
            expected: [":method: POST"] + get.dropFirst()),
        Row(
            title: "no content in a POST", method: .post,
            expected: [":method: POST"] + get.dropFirst() + ["content-length: 0"]),
        Row(
            title: "OPTIONS *", method: .options, target: .asterisk,
            expected: [":method: OPTIONS", ":scheme: https", ":authority: a.example", ":path: *"]),
        Row(
            title: "a URL, to a proxy", target: .absolute("http://u:p@b:81?q"),
            expected: [":method: GET", ":scheme: http", ":authority: b:81", ":path: /?q"]),
        Row(
            title: "a URL with a path", target: .absolute("http://b/c?d=//e@f"),
            expected: [":method: GET", ":scheme: http", ":authority: b", ":path: /c?d=//e@f"]),
        Row(
            title: "[H-8.17] OPTIONS * through a proxy", method: .options,
            target: .absolute("http://b"),
            expected: [":method: OPTIONS", ":scheme: http", ":authority: b", ":path: *"]),
        Row(
            title: "a URL without a host", target: .absolute("http:///a"),
            error: .invalidAuthority(Excerpt(""))),
        Row(
            title: "a URL without an authority", target: .absolute("mailto:a"),
            error: .invalidTarget(Excerpt("mailto:a"))),
        Row(title: "no host", host: nil, error: .missingHostToSend),
        Row(title: "two hosts", fields: [("Host", "a"), ("Host", "a")], error: .repeatedHostToSend),
        Row(
            title: "a malformed host", fields: [("Host", "a b")], error: .invalidAuthority(Excerpt("a b"))),
        Row(
            title: "a given length", fields: [("Content-Length", "1")],
            error: .framingFieldToSend(Excerpt("Content-Length"))),
        Row(
            title: "a given coding", fields: [("Transfer-Encoding", "chunked")],
            error: .framingFieldToSend(Excerpt("Transfer-Encoding"))),
        Row(
            title: "a negative length", body: .known(-1),
            error: .bodyLengthMismatch(announced: -1, given: 0)),
        Row(title: "a malformed target", target: .origin("a"), error: .invalidTarget(Excerpt("a"))),
    ]

    @Test(arguments: rows) func requestsAreEncoded(_ row: Row) throws {
        var fields = Fields()
        for (name, value) in row.fields { try fields.append(FieldName(name), value) }
        let authority = try row.host.map { try Authority(host: $0, port: 443, defaultPort: 443) }
        let head = RequestHead(method: row.method, target: row.target, authority: authority, fields: fields)
        if let error = row.error {
            #expect(throws: error) { try MessageEncoder.request(head, scheme: "https", body: row.body) }
            return
        }
        let list = try MessageEncoder.request(head, scheme: "https", body: row.body)
        #expect(Lists.lines(list) == row.expected)
        // The decoder accepts the list.
        let request = try MessageDecoder.request(list)
        #expect(request.head.method == row.method)
    }

    @Test func aTunnel() throws {
        let authority = try Authority(host: "::1", port: 443)
        let head = RequestHead(method: .connect, target: .authority(authority))
        let list = try MessageEncoder.request(head, scheme: "https", body: .unknown)
        #expect(Lists.lines(list) == [":method: CONNECT", ":authority: [::1]:443"])
        #expect(try MessageDecoder.request(list).head.target == .authority(authority))
    }

    @Test func responses() throws {
        var fields = Fields()
        try fields.append(.server, "x")
        try fields.append(.connection, "close")
        let head = ResponseHead(status: Status(404), reason: "Gone fishing", fields: fields)
        let list = try MessageEncoder.response(head, body: .known(3))
        #expect(Lists.lines(list) == [":status: 404", "content-length: 3", "server: x"])
        #expect(try MessageDecoder.response(list).status.code == 404)
    }

    @Test func trailers() throws {
        var fields = Fields()
        try fields.append(FieldName("X-Sum"), "1")
        #expect(try Lists.lines(MessageEncoder.trailers(fields)) == ["x-sum: 1"])
        try fields.append(.host, "a")
        #expect(throws: HTTPError.forbiddenTrailerToSend(Excerpt("Host"))) {
            try MessageEncoder.trailers(fields)
        }
    }
}
