// SPDX-License-Identifier: MIT

import LupineCoding
import LupineTestKit
import Testing

@testable import LupineOrigin

@Suite struct EndpointTests {
    struct Row: CustomTestStringConvertible {
        let shows: String
        let target: String
        var method = "GET"
        var fields = ""
        var body = ""
        var status = 200
        var contains: [String] = []
        var head: [String: String] = [:]
        var testDescription: String { shows }

        func check(_ client: RawClient, _ base: String) throws {
            let response = try client.request(method, target, fields, body: Array(body.utf8))
            #expect(response.status == status, "\(shows)")
            for text in contains {
                let expected = text.replacing("http://test/", with: base)
                #expect(response.text.contains(expected), "\(shows): \(response.text)")
            }
            for (name, value) in head {
                let expected = value.replacing("http://test/", with: base)
                #expect(response[name] == expected, "\(shows): \(response.head)")
            }
            #expect(response["Date"] != nil)
            let next = try client.get("/get")
            #expect(next.status == 200, "the connection lives on")
        }
    }

    static let form = "Content-Type: application/x-www-form-urlencoded\r\n"

    static let rows = [
        Row(
            shows: "arguments, repeated ones as a list", target: "/get?a=1&b=x%20y&a=2",
            contains: [
                "\"args\": {\n    \"a\": [\n      \"1\",\n      \"2\"\n    ],\n    \"b\": \"x y\"",
                "\"url\": \"http://test/get?a=1&b=x%20y&a=2\"", "\"origin\": \"127.0.0.1\"",
                "\"Host\": \"test\"",
            ]),
        Row(
            shows: "JSON as JSON and as data", target: "/post", method: "POST", body: "{\"k\": [1]}",
            contains: ["\"json\": {\"k\": [1]}", "\"data\": \"{\\\"k\\\": [1]}\"", "\"form\": {}"]),
        Row(
            shows: "a form as a form", target: "/post", method: "POST", fields: form, body: "a=1&b=c+d",
            contains: [
                "\"form\": {\n    \"a\": \"1\",\n    \"b\": \"c d\"", "\"data\": \"\"", "\"json\": null",
            ]),
        Row(
            shows: "a multipart form as form and files", target: "/put", method: "PUT",
            fields: "Content-Type: multipart/form-data; boundary=B\r\n",
            body: "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--B\r\n"
                + "Content-Disposition: form-data; name=\"f\"; filename=\"x.txt\"\r\n\r\nfile\r\n--B--\r\n",
            contains: ["\"form\": {\n    \"a\": \"1\"", "\"files\": {\n    \"f\": \"file\""]),
        Row(
            shows: "a multipart form without end is refused", target: "/post", method: "POST",
            fields: "Content-Type: multipart/form-data; boundary=B\r\n", body: "--B\r\n\r\nx", status: 400),
        Row(shows: "patch", target: "/patch", method: "PATCH", body: "x", contains: ["\"data\": \"x\""]),
        Row(shows: "delete", target: "/delete", method: "DELETE", contains: ["\"data\": \"\""]),
        Row(
            shows: "any method, any path", target: "/anything/a/b?c=d", method: "PURGE",
            contains: ["\"method\": \"PURGE\"", "http://test/anything/a/b?c=d"]),
        Row(shows: "the wrong method", target: "/get", method: "POST", status: 405, head: ["Allow": "GET"]),
        Row(shows: "no such path", target: "/nowhere", status: 404, contains: ["error"]),
        Row(
            shows: "fields of one name joined", target: "/headers", fields: "X-A: 1\r\nx-a: 2\r\n",
            contains: ["\"X-A\": \"1,2\""]),
        Row(shows: "the client", target: "/ip", contains: ["127.0.0.1"]),
        Row(
            shows: "the user agent", target: "/user-agent", fields: "User-Agent: u\r\n",
            contains: ["\"user-agent\": \"u\""]),
        Row(shows: "a status", target: "/status/418", method: "POST", status: 418),
        Row(shows: "a status with weights", target: "/status/200:0,503:1", status: 503),
        Row(
            shows: "a redirect's status", target: "/status/307", status: 307,
            head: ["Location": "/redirect/1"]),
        Row(shows: "no status", target: "/status/99", status: 400),
        Row(shows: "no delay", target: "/delay/0.001", contains: ["\"url\""]),
        Row(shows: "not a delay", target: "/delay/x", status: 400),
        Row(
            shows: "a redirect among several", target: "/redirect/3", status: 302,
            head: ["Location": "/relative-redirect/2"]),
        Row(
            shows: "the last redirect", target: "/relative-redirect/1", status: 302,
            head: ["Location": "/get"]),
        Row(
            shows: "an absolute redirect", target: "/absolute-redirect/2", status: 302,
            head: ["Location": "http://test/absolute-redirect/1"]),
        Row(
            shows: "a redirect elsewhere", target: "/redirect-to?url=http%3A%2F%2Fx%2F&status_code=308",
            method: "POST", status: 308, head: ["Location": "http://x/"]),
        Row(
            shows: "a redirect elsewhere, by a form", target: "/redirect-to", method: "POST", fields: form,
            body: "url=/get&status_code=307", status: 307, head: ["Location": "/get"]),
        Row(
            shows: "a target that cannot stand in a field", target: "/redirect-to?url=a%0d%0aX:%20y",
            status: 400),
        Row(
            shows: "cookies", target: "/cookies", fields: "Cookie: a=1; b=2=3\r\n",
            contains: ["\"a\": \"1\"", "\"b\": \"2=3\""]),
        Row(
            shows: "a cookie set", target: "/cookies/set/a/b", status: 302,
            head: ["Location": "/cookies", "Set-Cookie": "a=b; Path=/"]),
        Row(
            shows: "a cookie set by query", target: "/cookies/set?k=v", status: 302,
            head: ["Set-Cookie": "k=v; Path=/"]),
        Row(
            shows: "a cookie taken away", target: "/cookies/delete?k", status: 302,
            head: ["Set-Cookie": "k=; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=0; Path=/"]),
        Row(
            shows: "credentials asked for", target: "/basic-auth/u/p", status: 401,
            head: ["WWW-Authenticate": "Basic realm=\"Fake Realm\""]),
        Row(
            shows: "the right credentials", target: "/basic-auth/u/p",
            fields: "Authorization: Basic dTpw\r\n",
            contains: ["\"authenticated\": true", "\"user\": \"u\""]),
        Row(
            shows: "the wrong credentials", target: "/basic-auth/u/q",
            fields: "Authorization: Basic dTpw\r\n",
            status: 401),
        Row(shows: "hidden", target: "/hidden-basic-auth/u/p", status: 404),
        Row(
            shows: "hidden, and found", target: "/hidden-basic-auth/u/p",
            fields: "Authorization: Basic dTpw\r\n"),
        Row(shows: "no token", target: "/bearer", status: 401, head: ["WWW-Authenticate": "Bearer"]),
        Row(
            shows: "a token", target: "/bearer", fields: "Authorization: Bearer t\r\n",
            contains: ["\"token\": \"t\""]),
        Row(
            shows: "of several types the last one",
            target: "/response-headers?Content-Type=a/b&content-type=text/plain&X-A=1",
            head: ["X-A": "1", "Content-Type": "text/plain"]),
        Row(
            shows: "a form of very many fields", target: "/post", method: "POST", fields: form,
            body: String(repeating: "a&", count: 10_000), status: 400),
        Row(
            shows: "a form of many fields", target: "/post", method: "POST", fields: form,
            body: String(repeating: "a&", count: 9_999) + "b", contains: ["\"b\": \"\""]),
        Row(
            shows: "fields to order", target: "/response-headers?X-A=1&X-A=2&Content-Type=text/plain",
            contains: ["\"X-A\": [\n"], head: ["X-A": "1", "Content-Type": "text/plain"]),
        Row(shows: "no framing to order", target: "/response-headers?Content-Length=4", status: 400),
        Row(
            shows: "a part", target: "/range/100", fields: "Range: bytes=26-28\r\n", status: 206,
            contains: ["abc"], head: ["Content-Range": "bytes 26-28/100", "ETag": "\"range100\""]),
        Row(
            shows: "a part of another version", target: "/range/4?etag=v2",
            fields: "Range: bytes=1-\r\nIf-Range: \"v1\"\r\n", contains: ["abcd"], head: ["ETag": "\"v2\""]),
        Row(
            shows: "a part of a version by date", target: "/range/4",
            fields: "Range: bytes=1-\r\nIf-Range: Sun, 06 Nov 1994 08:49:37 GMT\r\n", status: 206,
            contains: ["bcd"]),
        Row(
            shows: "a part that is not there", target: "/range/4", fields: "Range: bytes=4-\r\n", status: 416,
            head: ["Content-Range": "bytes */4"]),
        Row(shows: "a tag", target: "/etag/e", contains: ["url"], head: ["ETag": "\"e\""]),
        Row(
            shows: "a tag that is known", target: "/etag/e", fields: "If-None-Match: \"x\", W/\"e\"\r\n",
            status: 304),
        Row(shows: "a tag that is not", target: "/etag/e", fields: "If-Match: \"x\"\r\n", status: 412),
        Row(shows: "a tag that must be", target: "/etag/e", fields: "If-Match: \"e\"\r\n"),
        Row(
            shows: "a cacheable answer", target: "/cache",
            head: ["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT", "ETag": "\"cache\""]),
        Row(
            shows: "a cached answer", target: "/cache",
            fields: "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n", status: 304),
        Row(shows: "an age", target: "/cache/60", head: ["Cache-Control": "public, max-age=60"]),
        Row(
            shows: "html", target: "/html", contains: ["<h1>"],
            head: ["Content-Type": "text/html; charset=utf-8"]),
        Row(
            shows: "xml", target: "/xml", contains: ["<slideshow"], head: ["Content-Type": "application/xml"]),
        Row(shows: "json", target: "/json", contains: ["\"slideshow\""]),
        Row(
            shows: "flowers", target: "/flowers",
            contains: ["\"name\": \"lupine\"", "\"colour\": \"red\""]),
        Row(
            shows: "a flower", target: "/flowers", method: "POST",
            fields: "Content-Type: application/json\r\n", body: "{\"name\": \"iris\"}", status: 201,
            contains: ["{\"name\": \"iris\"}"]),
        Row(
            shows: "no flower", target: "/flowers", method: "POST",
            fields: "Content-Type: application/json\r\n", body: "iris", status: 415),
        Row(shows: "utf-8", target: "/encoding/utf8", contains: ["Ξεσκεπάζω", "😀"]),
        Row(shows: "robots", target: "/robots.txt", contains: ["/deny"]),
        Row(shows: "a picture", target: "/image/png", contains: ["PNG"], head: ["Content-Type": "image/png"]),
        Row(shows: "lines", target: "/stream/3?x=1", contains: ["\"id\": 0", "\"id\": 2", "\"x\": \"1\""]),
        Row(
            shows: "a drip", target: "/drip?numbytes=4&duration=0.01&code=201", status: 201,
            contains: ["****"]),
        Row(
            shows: "events", target: "/events?count=2&retry=5",
            contains: ["retry: 5\n\nid: 1\nevent: tick\ndata: {\"id\": 1}\n\nid: 2\n"],
            head: ["Content-Type": "text/event-stream"]),
        Row(
            shows: "no event behind the last number that there is",
            target: "/events?count=9223372036854775807",
            fields: "Last-Event-ID: 9223372036854775807\r\n"),
        Row(
            shows: "events behind the last one", target: "/events?count=3", fields: "Last-Event-ID: 2\r\n",
            contains: ["id: 3\nevent"]),
        Row(shows: "an identifier", target: "/uuid", contains: ["-4"]),
        Row(shows: "the list", target: "/", contains: ["/digest-auth/{qop}", "/drip"]),
        Row(
            shows: "a hash", target: "/hash", method: "POST", body: "abc",
            contains: [
                "\"bytes\": 3", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            ]),
        Row(
            shows: "parts by name, type, size and hash", target: "/upload", method: "POST",
            fields: "Content-Type: multipart/form-data; boundary=B\r\n",
            body:
                "--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"x\"\r\nContent-Type: a/b\r\n\r\n"
                + "abc\r\n--B--\r\n",
            contains: [
                "\"filename\": \"x\"", "\"type\": \"a/b\"", "\"bytes\": 3",
                "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            ]),
        Row(shows: "an upload that is none", target: "/upload", method: "POST", body: "x", status: 415),
    ]

    @Test(arguments: rows) func endpoint(_ row: Row) async throws {
        try await withClient { client, _ in try row.check(client, "http://test/") }
    }

    @Test func everyEndpointOverTLS() async throws {
        try await withSecureClient { client, origin in
            for row in Self.rows { try row.check(client, "https://test/") }
            #expect(origin.counts.connectionsAccepted == 1)
        }
    }

    @Test(arguments: [("/gzip", ContentCoding.gzip), ("/deflate", .deflate), ("/brotli", .br)])
    func codings(_ path: String, _ coding: ContentCoding) async throws {
        try await withClient { client, _ in
            let response = try client.get(path)
            #expect(response["Content-Encoding"] == coding.rawValue)
            var room = [UInt8](repeating: 0, count: 4_096)
            var span = room.mutableSpan
            let stream = CodingStream([coding])
            let step = try stream.decode(response.body.span, into: &span)
            try stream.finish()
            let text = String(decoding: room.prefix(step.produced), as: UTF8.self)
            #expect(text.contains("\"method\": \"GET\""))
        }
    }

    @Test func bytesAreTheSameForTheSameSeed() async throws {
        try await withClient { client, _ in
            let first = try client.get("/bytes/100000?seed=7")
            let second = try client.get("/stream-bytes/100000?seed=7&chunk_size=777")
            #expect(first.body.count == 100_000)
            #expect(first["Content-Length"] == "100000")
            #expect(second["Transfer-Encoding"] == "chunked")
            #expect(first.body == second.body)
            #expect(try client.get("/bytes/100?seed=8").body != Array(first.body.prefix(100)))
            #expect(try client.get("/bytes/0").body == [])
        }
    }

    @Test func chunksEndWithATrailer() async throws {
        try await withClient { client, _ in
            let response = try client.get("/chunked/3")
            #expect(response.text == "chunk 0\nchunk 1\nchunk 2\n")
            #expect(response.trailers == "X-Chunks: 3\r\n")
        }
    }

    @Test func infinityIsStreamedAndEndsWithTheClient() async throws {
        try await withClient { client, _ in
            try client.send("GET /infinite HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try client.receiveHead().status == 200)
            #expect(try client.receive(exactly: 3 << 20).count == 3 << 20)
        }
    }
}
