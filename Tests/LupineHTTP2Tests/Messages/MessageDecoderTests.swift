// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineHTTP2
import Testing

/// Tests of valid and malformed header lists of heads and trailers (RFC 9113 §8.2 and §8.3).
@Suite struct MessageDecoderTests {
    struct Row: CustomTestStringConvertible {
        let title: String
        let fields: [(String, String)]
        let expected: [String]
        let error: MessageError?
        var allowsProtocol = false
        var testDescription: String { title }

        init(
            _ title: String, _ fields: [(String, String)], _ expected: String..., allowsProtocol: Bool = false
        ) {
            (self.title, self.fields, self.expected, error) = (title, fields, expected, nil)
            self.allowsProtocol = allowsProtocol
        }

        init(_ title: String, _ fields: [(String, String)], error: MessageError, allowsProtocol: Bool = false)
        {
            (self.title, self.fields, expected, self.error) = (title, fields, [], error)
            self.allowsProtocol = allowsProtocol
        }
    }

    static func list(_ fields: [(String, String)]) -> HeaderList {
        var list = HeaderList()
        for (name, value) in fields { list.append(name, value) }
        return list
    }

    static func lines(_ fields: Fields) -> [String] {
        (0..<fields.count).map { "\(fields.name(at: $0)): \(fields.value(at: $0))" }
    }

    private static func get(_ more: (String, String)...) -> [(String, String)] {
        [(":method", "GET"), (":scheme", "https"), (":authority", "a.example"), (":path", "/")] + more
    }

    private static func get(without name: String) -> [(String, String)] { get().filter { $0.0 != name } }

    private static func get(_ name: String, is value: String) -> [(String, String)] {
        get().map { $0.0 == name ? (name, value) : $0 }
    }

    static let requests: [Row] = [
        Row("a request", get(("accept", "*/*")), "GET https /", "Host: a.example", "accept: */*"),
        Row("pseudo-fields in any order", Array(get().reversed()), "GET https /", "Host: a.example"),
        Row("a path with a query", get(":path", is: "/a?b=c"), "GET https /a?b=c", "Host: a.example"),
        Row(
            "the asterisk of OPTIONS",
            [(":method", "OPTIONS"), (":scheme", "http"), (":authority", "a:80"), (":path", "*")],
            "OPTIONS http *", "Host: a:80"),
        Row(
            "a host in place of an authority", get(without: ":authority") + [("host", "b")], "GET https /",
            "host: b"),
        Row(
            "a host equal to the authority, in another case", get(("a", "b"), ("host", "A.Example")),
            "GET https /", "a: b", "host: A.Example"),
        Row(
            "[H-8.10] a host with the default port of https", get(("host", "a.example:443")),
            "GET https /", "host: a.example:443"),
        Row(
            "[H-8.10] an authority with the default port of https",
            get(":authority", is: "a.example:443") + [("host", "A.example")],
            "GET https /", "host: A.example"),
        Row(
            "[H-8.10] the port of another scheme", get(("host", "a.example:80")),
            error: .conflictingHost(Excerpt("a.example"), Excerpt("a.example:80"))),
        Row(
            "[H-8.10] the default port of http", get(":scheme", is: "HTTP") + [("host", "a.example:80")],
            "GET HTTP /", "host: a.example:80"),
        Row(
            "[H-8.13] cookies become one field",
            get(("cookie", "a=b"), ("x", "y"), ("cookie", "c=d")),
            "GET https /", "Host: a.example", "x: y", "Cookie: a=b; c=d"),
        Row(
            "[H-8.13] an empty cookie and another one", get(("cookie", ""), ("cookie", "a=b")), "GET https /",
            "Host: a.example", "Cookie: ; a=b"),
        Row(
            "[H-8.13] only an empty cookie", get(("cookie", "")), "GET https /", "Host: a.example",
            "Cookie: "),
        Row("an empty value", get(("a", "")), "GET https /", "Host: a.example", "a: "),
        Row(
            "TE: trailers", get(("te", "trailers")), "GET https /", "Host: a.example", "te: trailers"
        ),
        Row("another scheme", get(":scheme", is: "coap+tcp"), "GET coap+tcp /", "Host: a.example"),
        Row(
            "a tunnel", [(":method", "CONNECT"), (":authority", "a.example:443")], "CONNECT - a.example:443",
            "Host: a.example:443"),
        Row(
            "[H-8.12] a protocol in a tunnel",
            [
                (":method", "CONNECT"), (":protocol", "websocket"), (":scheme", "https"), (":path", "/chat"),
                (":authority", "a"),
            ],
            "CONNECT https /chat websocket", "Host: a", allowsProtocol: true),
        Row(
            "[H-8.12] a protocol that was not allowed",
            [
                (":method", "CONNECT"), (":protocol", "websocket"), (":scheme", "https"), (":path", "/chat"),
                (":authority", "a"),
            ],
            error: .unexpectedPseudoField(Excerpt(":protocol"))),
        Row(
            "a protocol without a tunnel", get((":protocol", "x")),
            error: .unexpectedPseudoField(Excerpt(":protocol")), allowsProtocol: true),
        Row("[H-8.9] no method", get(without: ":method"), error: .missingPseudoField(":method")),
        Row("[H-8.9] no scheme", get(without: ":scheme"), error: .missingPseudoField(":scheme")),
        Row("[H-8.9] no path", get(without: ":path"), error: .missingPseudoField(":path")),
        Row(
            "neither an authority nor a host", get(without: ":authority"),
            error: .missingPseudoField(":authority")),
        Row(
            "[H-8.7] two paths", get((":path", "/")), error: .repeatedPseudoField(Excerpt(":path"))),
        Row(
            "[H-8.7] a status in a request", get((":status", "200")),
            error: .unexpectedPseudoField(Excerpt(":status"))),
        Row(
            "[H-8.7] an unknown pseudo-field", get((":x", "y")),
            error: .unexpectedPseudoField(Excerpt(":x"))),
        Row(
            "a pseudo-field in capitals", get((":Method", "GET")),
            error: .unexpectedPseudoField(Excerpt(":Method"))),
        Row("only a colon", get((":", "")), error: .unexpectedPseudoField(Excerpt(":"))),
        Row(
            "[H-8.8] a pseudo-field after a field", [("a", "b")] + get(),
            error: .misplacedPseudoField(Excerpt(":method"))),
        Row("no field at all", [], error: .missingPseudoField(":method")),
        Row(
            "a method that is not a token", get(":method", is: "G T"),
            error: .invalidPseudoField(":method", Excerpt("G T"))),
        Row("an empty method", get(":method", is: ""), error: .invalidPseudoField(":method", Excerpt(""))),
        Row("an empty scheme", get(":scheme", is: ""), error: .invalidPseudoField(":scheme", Excerpt(""))),
        Row(
            "a malformed scheme", get(":scheme", is: "1http"),
            error: .invalidPseudoField(":scheme", Excerpt("1http"))),
        Row(
            "[H-8.9] an empty path", get(":path", is: ""),
            error: .invalidPseudoField(":path", Excerpt(""))),
        Row(
            "a path without a slash", get(":path", is: "a"), error: .invalidPseudoField(":path", Excerpt("a"))
        ),
        Row("an asterisk of GET", get(":path", is: "*"), error: .invalidPseudoField(":path", Excerpt("*"))),
        Row(
            "a whole URL for a path", get(":path", is: "http://a/"),
            error: .invalidPseudoField(":path", Excerpt("http://a/"))),
        Row("a fragment", get(":path", is: "/a#b"), error: .invalidPseudoField(":path", Excerpt("/a#b"))),
        Row(
            "a space in a path", get(":path", is: "/a b"),
            error: .invalidPseudoField(":path", Excerpt("/a b"))),
        Row(
            "a letter beyond ASCII in a path", get(":path", is: "/é"),
            error: .invalidPseudoField(":path", Excerpt("/é"))),
        Row(
            "a line end in a path", get(":path", is: "/\r\nx: y"),
            error: .invalidValue(name: Excerpt(":path"))),
        Row(
            "an empty authority", get(":authority", is: ""),
            error: .invalidPseudoField(":authority", Excerpt(""))),
        Row(
            "[H-8.10] a user in an authority", get(":authority", is: "u@a"),
            error: .invalidPseudoField(":authority", Excerpt("u@a"))),
        Row(
            "[H-8.10] another host than the authority", get(("host", "b")),
            error: .conflictingHost(Excerpt("a.example"), Excerpt("b"))),
        Row(
            "two hosts", get(without: ":authority") + [("host", "b"), ("host", "b")],
            error: .invalidPseudoField("host", Excerpt("b"))),
        Row(
            "[H-8.11] a tunnel with a scheme",
            [(":method", "CONNECT"), (":scheme", "https"), (":authority", "a:1")],
            error: .unexpectedPseudoField(Excerpt(":scheme"))),
        Row(
            "[H-8.11] a tunnel with a path",
            [(":method", "CONNECT"), (":path", "/"), (":authority", "a:1")],
            error: .unexpectedPseudoField(Excerpt(":path"))),
        Row("a tunnel to nowhere", [(":method", "CONNECT")], error: .missingPseudoField(":authority")),
        Row(
            "a tunnel without a port", [(":method", "CONNECT"), (":authority", "a")],
            error: .invalidPseudoField(":authority", Excerpt("a"))),
        Row(
            "a malformed content length", get(("content-length", "+1")),
            error: .invalidContentLength(Excerpt("+1"))),
        Row(
            "a content length that does not fit", get(("content-length", "9223372036854775808")),
            error: .invalidContentLength(Excerpt("9223372036854775808"))),
        Row(
            "two content lengths", get(("content-length", "1"), ("content-length", "2")),
            error: .invalidContentLength(Excerpt("2"))),
    ]

    /// Fields that are forbidden in every message.
    static let fields: [Row] =
        [
            ("connection", "close"), ("keep-alive", "a"), ("proxy-connection", "a"),
            ("transfer-encoding", "chunked"), ("upgrade", "h2c"),
        ]
        .map { Row("[H-8.6] \($0.0)", get($0), error: .connectionField(Excerpt($0.0))) }
        + ["gzip", "trailers, gzip", "Trailers", ""].map {
            Row("[H-8.6] TE: '\($0)'", get(("te", $0)), error: .invalidTE(Excerpt($0)))
        }
        + ["Accept", "aB", "Z"].map {
            Row("[H-8.5] the name \($0)", get(($0, "a")), error: .capitalInName(Excerpt($0)))
        }
        + ["", "a b", "a:b", "a\u{0}", "\u{7F}", "é", "a\r\n", "(x)"].map {
            Row("[H-8.5] the name \(Excerpt($0))", get(($0, "a")), error: .invalidName(Excerpt($0)))
        }
        + ["a\u{0}b", "a\rb", "a\nb", " a", "a ", "\ta", "a\t", " ", "\u{7F}"].map {
            Row(
                "[H-8.5] the value \(Excerpt($0))", get(("x", $0)),
                error: .invalidValue(name: Excerpt("x")))
        }

    /// Checks the same fields in responses and trailers, where TE is forbidden in any form.
    @Test("[H-8.6] fields that are forbidden in responses and trailers", arguments: fields)
    func forbiddenInResponsesAndTrailers(_ row: Row) throws {
        guard let field = row.fields.last, let error = row.error else { return }
        var expected = error
        if case .invalidTE = error { expected = .connectionField(Excerpt("te")) }
        #expect(throws: expected) {
            try MessageDecoder.response(Self.list([(":status", "200"), field]))
        }
        #expect(throws: expected) { try MessageDecoder.trailers(Self.list([("a", "b"), field])) }
    }

    @Test("[H-8.6] TE is allowed in requests only") func teOfAServer() throws {
        let fields = [(":status", "200"), ("te", "trailers")]
        #expect(throws: MessageError.connectionField(Excerpt("te"))) {
            try MessageDecoder.response(Self.list(fields))
        }
        #expect(throws: MessageError.connectionField(Excerpt("te"))) {
            try MessageDecoder.trailers(Self.list([("te", "trailers")]))
        }
    }

    @Test(arguments: requests + fields) func requestsAreDecoded(_ row: Row) throws {
        let list = Self.list(row.fields)
        if let error = row.error {
            #expect(throws: error) { try MessageDecoder.request(list, allowsProtocol: row.allowsProtocol) }
            #expect(error.code == .protocolError)
            return
        }
        let request = try MessageDecoder.request(list, allowsProtocol: row.allowsProtocol)
        let first = "\(request.head.method) \(request.scheme ?? "-") \(request.head.target)"
        #expect(
            [first + (request.protocol.map { " \($0)" } ?? "")] + Self.lines(request.head.fields)
                == row.expected)
    }

    static let responses: [Row] =
        [
            Row("a response", [(":status", "200"), ("server", "x")], "200", "server: x"),
            Row("an interim response", [(":status", "103")], "103"),
            Row("a status of no class", [(":status", "999")], "999"),
            Row("[H-8.14] no status", [("a", "b")], error: .missingPseudoField(":status")),
            Row(
                "two statuses", [(":status", "200"), (":status", "200")],
                error: .repeatedPseudoField(Excerpt(":status"))),
            Row(
                "[H-8.7] a path in a response", [(":status", "200"), (":path", "/")],
                error: .unexpectedPseudoField(Excerpt(":path"))),
            Row(
                "a status after a field", [("a", "b"), (":status", "200")],
                error: .misplacedPseudoField(Excerpt(":status"))),
            Row(
                "a field about the connection", [(":status", "200"), ("connection", "close")],
                error: .connectionField(Excerpt("connection"))),
        ]
        + ["", "20", "2000", "099", "2x0", "+20", "20 "].map {
            Row(
                "the status '\($0)'", [(":status", $0)],
                error: $0 == "20 "
                    ? .invalidValue(name: Excerpt(":status")) : .invalidPseudoField(":status", Excerpt($0)))
        }

    @Test(arguments: responses) func responsesAreDecoded(_ row: Row) throws {
        let list = Self.list(row.fields)
        if let error = row.error {
            #expect(throws: error) { try MessageDecoder.response(list) }
            return
        }
        let head = try MessageDecoder.response(list)
        #expect(["\(head.status)"] + Self.lines(head.fields) == row.expected)
        // The fields keep their order in the list, and can be changed like any others.
        var changed = head.fields
        try changed.append(FieldName("x-more"), "y")
        #expect(["\(head.status)"] + Self.lines(changed) == row.expected + ["x-more: y"])
    }

    static let trailers: [Row] = [
        Row("trailers", [("a", "b"), ("c", "d")], "a: b", "c: d"),
        Row("no trailers", []),
        Row(
            "[H-8.15] fields that are forbidden in trailers are dropped",
            [("content-length", "1"), ("a", "b"), ("host", "x")], "a: b"),
        Row(
            "[H-8.15] a pseudo-field in trailers", [(":status", "200")],
            error: .unexpectedPseudoField(Excerpt(":status"))),
        Row(
            "a pseudo-field after a trailer", [("a", "b"), (":status", "200")],
            error: .misplacedPseudoField(Excerpt(":status"))),
        Row("a capital in trailers", [("A", "b")], error: .capitalInName(Excerpt("A"))),
    ]

    @Test(arguments: trailers) func trailersAreDecoded(_ row: Row) throws {
        let list = Self.list(row.fields)
        if let error = row.error {
            #expect(throws: error) { try MessageDecoder.trailers(list) }
            return
        }
        #expect(try Self.lines(MessageDecoder.trailers(list)) == row.expected)
    }
}
