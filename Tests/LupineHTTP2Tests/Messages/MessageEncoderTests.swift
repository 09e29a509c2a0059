// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineHTTP2
import Testing

/// The header lists that heads are encoded into, and the heads that cannot be sent.
@Suite struct MessageEncoderTests {
    struct Row: CustomTestStringConvertible {
        let shows: String
        var method = Method.get
        var target = RequestTarget.origin("/")
        var host: String? = "a.example"
        var fields: [(String, String)] = []
        var body = OutgoingBody.none
        var expected: [String] = []
        var error: HTTPError?
        var testDescription: String { shows }
    }

    private static let get = [":method: GET", ":scheme: https", ":authority: a.example", ":path: /"]

    static let rows: [Row] = [
        Row(shows: "a request", expected: get),
        Row(
            shows: "fields in small letters", fields: [("Accept", "*/*"), ("X-Y", "Z")],
            expected: get + ["accept: */*", "x-y: Z"]),
        Row(
            shows: "[H-8.17] fields about the connection stay here",
            fields: [
                ("Connection", "keep-alive, X-Hop"), ("Keep-Alive", "a"), ("Proxy-Connection", "a"),
                ("Upgrade", "b"),
                ("x-hop", "c"), ("TE", "gzip"), ("a", "b"),
            ], expected: get + ["a: b"]),
        Row(shows: "TE that says trailers", fields: [("TE", "trailers")], expected: get + ["te: trailers"]),
        Row(
            shows: "a host among the fields", fields: [("Host", "b.example:8080")],
            expected: [":method: GET", ":scheme: https", ":authority: b.example:8080", ":path: /"]),
        Row(
            shows: "a known length", method: .post, body: .known(5),
            expected: [":method: POST"] + get.dropFirst() + ["content-length: 5"]),
        Row(
            shows: "an unknown length", method: .post, body: .unknown,
            expected: [":method: POST"] + get.dropFirst()),
        Row(
            shows: "no content where some is expected", method: .post,
            expected: [":method: POST"] + get.dropFirst() + ["content-length: 0"]),
        Row(
            shows: "the server as a whole", method: .options, target: .asterisk,
            expected: [":method: OPTIONS", ":scheme: https", ":authority: a.example", ":path: *"]),
        Row(
            shows: "a URL, to a proxy", target: .absolute("http://u:p@b:81?q"),
            expected: [":method: GET", ":scheme: http", ":authority: b:81", ":path: /?q"]),
        Row(
            shows: "a URL with a path", target: .absolute("http://b/c?d=//e@f"),
            expected: [":method: GET", ":scheme: http", ":authority: b", ":path: /c?d=//e@f"]),
        Row(
            shows: "[H-8.17] a server as a whole, behind a proxy", method: .options,
            target: .absolute("http://b"),
            expected: [":method: OPTIONS", ":scheme: http", ":authority: b", ":path: *"]),
        Row(
            shows: "a URL without a host", target: .absolute("http:///a"),
            error: .invalidAuthority(Excerpt(""))),
        Row(
            shows: "a URL of no server", target: .absolute("mailto:a"),
            error: .invalidTarget(Excerpt("mailto:a"))),
        Row(shows: "no host", host: nil, error: .missingHostToSend),
        Row(shows: "two hosts", fields: [("Host", "a"), ("Host", "a")], error: .repeatedHostToSend),
        Row(
            shows: "a host that is none", fields: [("Host", "a b")], error: .invalidAuthority(Excerpt("a b"))),
        Row(
            shows: "a given length", fields: [("Content-Length", "1")],
            error: .framingFieldToSend(Excerpt("Content-Length"))),
        Row(
            shows: "a given coding", fields: [("Transfer-Encoding", "chunked")],
            error: .framingFieldToSend(Excerpt("Transfer-Encoding"))),
        Row(
            shows: "a length below nothing", body: .known(-1),
            error: .bodyLengthMismatch(announced: -1, given: 0)),
        Row(shows: "a target that is none", target: .origin("a"), error: .invalidTarget(Excerpt("a"))),
    ]

    @Test(arguments: rows) func writesRequests(_ row: Row) throws {
        var fields = Fields()
        for (name, value) in row.fields { try fields.append(FieldName(name), value) }
        let authority = try row.host.map { try Authority(host: $0, port: 443, defaultPort: 443) }
        let head = RequestHead(method: row.method, target: row.target, authority: authority, fields: fields)
        if let error = row.error {
            #expect(throws: error) { try MessageEncoder.request(head, scheme: "https", body: row.body) }
            return
        }
        let list = try MessageEncoder.request(head, scheme: "https", body: row.body)
        #expect(Lists.shown(list) == row.expected)
        // The decoder accepts the list.
        let request = try MessageDecoder.request(list)
        #expect(request.head.method == row.method)
    }

    @Test func aTunnel() throws {
        let authority = try Authority(host: "::1", port: 443)
        let head = RequestHead(method: .connect, target: .authority(authority))
        let list = try MessageEncoder.request(head, scheme: "https", body: .unknown)
        #expect(Lists.shown(list) == [":method: CONNECT", ":authority: [::1]:443"])
        #expect(try MessageDecoder.request(list).head.target == .authority(authority))
    }

    @Test func responses() throws {
        var fields = Fields()
        try fields.append(.server, "x")
        try fields.append(.connection, "close")
        let head = ResponseHead(status: Status(404), reason: "Gone fishing", fields: fields)
        let list = try MessageEncoder.response(head, body: .known(3))
        #expect(Lists.shown(list) == [":status: 404", "content-length: 3", "server: x"])
        #expect(try MessageDecoder.response(list).status.code == 404)
    }

    @Test func trailers() throws {
        var fields = Fields()
        try fields.append(FieldName("X-Sum"), "1")
        #expect(try Lists.shown(MessageEncoder.trailers(fields)) == ["x-sum: 1"])
        try fields.append(.host, "a")
        #expect(throws: HTTPError.forbiddenTrailerToSend(Excerpt("Host"))) {
            try MessageEncoder.trailers(fields)
        }
    }
}
