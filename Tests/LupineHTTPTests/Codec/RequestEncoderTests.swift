// SPDX-License-Identifier: MIT

import Testing

@testable import LupineHTTP

@Suite struct RequestEncoderTests {
    static func encode(
        _ head: RequestHead, _ body: OutgoingBody = .none, expectContinue: Bool = false
    ) throws(HTTPError) -> String {
        var output = Array("before".utf8)
        do {
            try RequestEncoder.encode(head, body: body, expectContinue: expectContinue, into: &output)
        } catch {
            #expect(output == Array("before".utf8), "an error leaves the output unchanged")
            throw error
        }
        return String(output.span.text(0..<output.count).dropFirst(6))
    }

    static func head(
        _ method: Method = .get, _ target: RequestTarget = .origin("/"), host: String? = "example.com",
        version: HTTPVersion = .http11, fields lines: (String, String)...
    ) throws -> RequestHead {
        var fields = Fields()
        for (name, value) in lines { try fields.append(FieldName(name), value) }
        let authority = try host.map { try Authority(host: $0, port: 80, defaultPort: 80) }
        return RequestHead(
            method: method, target: target, authority: authority, version: version, fields: fields)
    }

    @Test func originForm() throws {
        #expect(
            try Self.encode(Self.head(.get, .origin("/a?b"), fields: ("Accept", "*/*"), ("accept", "x")))
                == "GET /a?b HTTP/1.1\r\nHost: example.com\r\nAccept: */*\r\naccept: x\r\n\r\n")
    }

    @Test func absoluteForm() throws {
        #expect(
            try Self.encode(Self.head(.get, .absolute("http://example.com/a")))
                == "GET http://example.com/a HTTP/1.1\r\nHost: example.com\r\n\r\n")
    }

    @Test func authorityForm() throws {
        let authority = try Authority(host: "::1", port: 443, defaultPort: 443)
        #expect(
            try Self.encode(Self.head(.connect, .authority(authority), host: nil))
                == "CONNECT [::1]:443 HTTP/1.1\r\nHost: [::1]:443\r\n\r\n")
    }

    @Test func asteriskForm() throws {
        #expect(
            try Self.encode(Self.head(.options, .asterisk))
                == "OPTIONS * HTTP/1.1\r\nHost: example.com\r\n\r\n")
    }

    @Test(arguments: [
        ("GET", OutgoingBody.none, ""), ("DELETE", .none, ""), ("HEAD", .none, ""),
        ("POST", .none, "Content-Length: 0\r\n"), ("PUT", .none, "Content-Length: 0\r\n"),
        ("PATCH", .none, "Content-Length: 0\r\n"), ("GET", .known(0), "Content-Length: 0\r\n"),
        ("POST", .known(5), "Content-Length: 5\r\n"),
        ("POST", .known(.max), "Content-Length: 9223372036854775807\r\n"),
        ("POST", .unknown, "Transfer-Encoding: chunked\r\n"),
    ])
    func framing(_ method: String, _ body: OutgoingBody, _ line: String) throws {
        #expect(
            try Self.encode(Self.head(Method(method)), body)
                == "\(method) / HTTP/1.1\r\nHost: example.com\r\n\(line)\r\n")
    }

    @Test func expectContinue() throws {
        #expect(
            try Self.encode(Self.head(.put), .known(5), expectContinue: true)
                == "PUT / HTTP/1.1\r\nHost: example.com\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
    }

    @Test func expectIsNotSentTwice() throws {
        let head = try Self.head(.put, fields: ("expect", "100-continue"))
        #expect(
            try Self.encode(head, .known(5), expectContinue: true)
                == "PUT / HTTP/1.1\r\nHost: example.com\r\nContent-Length: 5\r\nexpect: 100-continue\r\n\r\n")
    }

    @Test(arguments: [
        ("a/b?secret=1", "\"a/b?...\""), ("http//user:secret@b/c?d", "\"...@b/c?...\""),
        ("x y", "\"x y\""),
    ])
    func errorsQuoteNoSecretsOfATarget(_ target: String, _ excerpt: String) throws {
        let head = try Self.head(.get, .absolute(target))
        #expect {
            try Self.encode(head)
        } throws: { error in
            "\(error)" == "not a request target: \(excerpt)"
        }
    }

    @Test func aHostFieldKeepsItsPosition() throws {
        #expect(
            try Self.encode(Self.head(.get, fields: ("A", "b"), ("host", "other.example:81")))
                == "GET / HTTP/1.1\r\nA: b\r\nhost: other.example:81\r\n\r\n")
        #expect(try Self.encode(Self.head(.get, fields: ("Host", ""))) == "GET / HTTP/1.1\r\nHost: \r\n\r\n")
    }

    @Test func http10NeedsNoHost() throws {
        #expect(try Self.encode(Self.head(host: nil, version: .http10)) == "GET / HTTP/1.0\r\n\r\n")
        #expect(throws: HTTPError.missingHostToSend) { try Self.encode(Self.head(host: nil)) }
    }

    @Test(arguments: ["Content-Length", "content-length", "Transfer-Encoding", "TRANSFER-ENCODING"])
    func framingFieldsAreRefused(_ name: String) throws {
        let head = try Self.head(.post, fields: (name, "5"))
        let canonical = name.lowercased() == "content-length" ? "Content-Length" : "Transfer-Encoding"
        #expect(throws: HTTPError.framingFieldToSend(Excerpt(canonical))) {
            try Self.encode(head, .known(5))
        }
    }

    @Test func twoHostsAreRefused() throws {
        #expect(throws: HTTPError.repeatedHostToSend) {
            try Self.encode(Self.head(.get, fields: ("Host", "a"), ("Host", "a")))
        }
    }

    @Test(arguments: ["a b", "a/b", "a@b", "a, b", "a:b", "[::1"])
    func malformedHostsAreRefused(_ value: String) throws {
        #expect(throws: HTTPError.invalidAuthority(Excerpt(value))) {
            try Self.encode(Self.head(.get, fields: ("Host", value)))
        }
    }

    /// Checks that no value of a caller can add a line to the head: method, target, host, field name or field value.
    @Test(arguments: ["\r\nX: y", "\nX: y", "\rX", "\0", " HTTP/1.1\r\n\r\n", "\u{7F}", "\u{B}"])
    func lineBreaksAndControlsAreRefused(_ injected: String) throws {
        #expect(throws: HTTPError.self) { try Method("GET" + injected) }
        #expect(throws: HTTPError.self) { try Self.encode(Self.head(.get, .origin("/" + injected))) }
        #expect(throws: HTTPError.self) {
            try Self.encode(Self.head(.get, .absolute("http://a/" + injected)))
        }
        #expect(throws: HTTPError.self) { try Authority(host: "a" + injected, port: 80) }
        #expect(throws: HTTPError.self) { try Authority(host: "[::1%" + injected + "]", port: 80) }
        #expect(throws: HTTPError.self) { try FieldName("A" + injected) }
        #expect(throws: HTTPError.self) { try Self.head(.get, fields: ("A", "b" + injected + "c")) }
        #expect(throws: HTTPError.self) {
            var fields = Fields()
            try fields.set(.host, "a" + injected + "b")
            var head = try Self.head()
            head.fields = fields
            _ = try Self.encode(head)
        }
    }
}
