// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineOrigin
import Testing

@testable import LupineTransport

/// nginx as an origin, with features that small servers lack.
@Suite struct NginxTests {
    private static let text = String(repeating: "All work and no play makes a dull server.\n", count: 500)

    private static func plain(_ configuration: inout HTTPClient.Configuration) {}
    private static func decoding(_ configuration: inout HTTPClient.Configuration) {
        configuration.decodesContent = true
    }
    private static func waiting(_ configuration: inout HTTPClient.Configuration) {
        configuration.continueTimeout = .seconds(600)
    }

    /// Runs `body` with nginx, a new client and, behind `/up/`, an origin.
    private func converse(
        _ locations: String, _ change: (inout HTTPClient.Configuration) -> Void = { _ in },
        _ body: (HTTPClient, ServerProcess, LupineOrigin.Origin) async throws -> Void
    ) async throws {
        let origin = try LupineOrigin.Origin.start()
        Blob.serve(on: origin)
        var configuration = HTTPClient.Configuration()
        configuration.timeout = .seconds(50)
        change(&configuration)
        let client = HTTPClient(configuration: configuration)
        let server = NginxServer(
            locations: locations + """

                location /up/ {
                    proxy_pass http://127.0.0.1:\(origin.port)/;
                    proxy_http_version 1.1;
                    proxy_set_header Connection "";
                    client_max_body_size 16m;
                }
                """, site: [("page.txt", Self.text)])
        do {
            try await ServerProcess.with(server) { try await body(client, $0, origin) }
        } catch {
            await client.shutdown()
            await origin.shutdown()
            throw error
        }
        await client.shutdown()
        await origin.shutdown()
    }

    @Test(.timeLimit(.minutes(10))) func aConnectionServesManyRequests() async throws {
        try await converse("") { client, nginx, _ in
            for _ in 0..<50 {
                try #require(try await client.get(nginx.url + "/page.txt").body.text() == Self.text)
            }
            try #require(client.connectionsOpened == 1)
        }
    }

    @Test(.timeLimit(.minutes(10))) func keepaliveRequestsEndsAConnectionInOrder() async throws {
        try await converse("keepalive_requests 5;") { client, nginx, _ in
            for _ in 0..<20 {
                try #require(try await client.get(nginx.url + "/page.txt").body.text() == Self.text)
            }
            try #require(client.connectionsOpened == 4)
        }
    }

    @Test(.timeLimit(.minutes(10)), arguments: ["gzip", "br"])
    func compressedContentIsDecoded(_ coding: String) async throws {
        let locations = """
            gzip \(coding == "gzip" ? "on" : "off"); gzip_types text/plain; gzip_min_length 1;
            brotli \(coding == "br" ? "on" : "off"); brotli_types text/plain; brotli_min_length 1;
            default_type text/plain;
            """
        try await converse(locations, Self.decoding) { client, nginx, _ in
            let response = try await client.get(nginx.url + "/page.txt")
            try #require(response.fields[.contentEncoding] == coding)
            try #require(try await response.body.text() == Self.text)
            let raw = HTTPClient()
            var fields = Fields()
            try fields.append(.acceptEncoding, coding)
            let packed = try await raw.send(HTTPRequest(url: nginx.url + "/page.txt", fields: fields))
            try #require(packed.fields[.contentEncoding] == coding)
            try #require(try await packed.body.collect().count < Self.text.utf8.count / 10)
            await raw.shutdown()
        }
    }

    @Test(.timeLimit(.minutes(10))) func return444ClosesWithoutAWord() async throws {
        try await converse("location /nothing { return 444; }") { client, nginx, _ in
            do {
                _ = try await client.get(nginx.url + "/nothing")
                throw RowFailure("a response")
            } catch let error as TransportError {
                try #require(
                    error == .http(host: "127.0.0.1", port: nginx.place.port, .truncated(.beforeHead)))
            }
            // The client still works.
            try #require(try await client.get(nginx.url + "/page.txt").status.code == 200)
        }
    }

    @Test(.timeLimit(.minutes(10))) func aReusedConnectionThatSaysNothingIsTriedOnceMore() async throws {
        try await converse("location /nothing { return 444; }") { client, nginx, _ in
            _ = try await client.get(nginx.url + "/page.txt").body.text()
            do {
                _ = try await client.get(nginx.url + "/nothing")
                throw RowFailure("a response")
            } catch let error as TransportError {
                try #require(
                    error == .http(host: "127.0.0.1", port: nginx.place.port, .truncated(.beforeHead)))
            }
            try #require(client.connectionsOpened == 2)
            let access = try String(contentsOfFile: nginx.place.folder + "/access.log", encoding: .utf8)
            try #require(access.split(separator: "\n").filter { $0.contains("/nothing") }.count == 2)
        }
    }

    @Test(.timeLimit(.minutes(10))) func aSlowServerIsWaitedFor() async throws {
        try await converse("location /page.txt { limit_rate 20k; }") { client, nginx, _ in
            try #require(try await client.get(nginx.url + "/page.txt").body.text() == Self.text)
        }
    }

    @Test(.timeLimit(.minutes(10))) func ranges() async throws {
        try await converse("") { client, nginx, _ in
            func part(_ range: String, _ condition: String? = nil) async throws -> (HTTPResponse, String) {
                var fields = Fields()
                try fields.append(.range, range)
                if let condition { try fields.append(.ifRange, condition) }
                let response = try await client.send(
                    HTTPRequest(url: nginx.url + "/page.txt", fields: fields))
                return (response, try await response.body.text())
            }
            let length = Self.text.utf8.count
            let (first, head) = try await part("bytes=4-7")
            try #require(first.status.code == 206)
            try #require(first.fields[.contentRange] == "bytes 4-7/\(length)")
            try #require(head == "work")
            try #require(try await part("bytes=-8").1 == "server.\n")
            let (none, _) = try await part("bytes=\(length)-")
            try #require(none.status.code == 416)
            try #require(none.fields[.contentRange] == "bytes */\(length)")
            let tag = try #require(first.fields[.eTag])
            try #require(try await part("bytes=4-7", tag).1 == "work")
            let (whole, text) = try await part("bytes=4-7", "\"another\"")
            try #require(whole.status.code == 200 && text == Self.text)
            let (several, parts) = try await part("bytes=0-2,4-7")
            try #require(several.status.code == 206 && parts.contains("work"))
            try #require(several.fields[.contentType]?.hasPrefix("multipart/byteranges") == true)
            try #require(client.connectionsOpened == 1)
        }
    }

    @Test(.timeLimit(.minutes(10)), arguments: [0, 1_024, Blob.longest])
    func chunksFromUpstream(_ size: Int) async throws {
        try await converse("") { client, nginx, _ in
            let response = try await client.get(nginx.url + "/up/chunked-blob/\(size)")
            try #require(response.fields[.transferEncoding] == "chunked")
            let body = try await response.body.collect()
            try #require(body.count == size && Blob.matches(body))
        }
    }

    /// Only nginx's own `100 Continue` starts the content before the test's time limit.
    @Test(.timeLimit(.minutes(10)), arguments: [1_024, Blob.longest])
    func contentWaitsForContinue(_ size: Int) async throws {
        try await converse("", Self.waiting) { client, nginx, _ in
            let response = try await client.send(
                HTTPRequest(method: .post, url: nginx.url + "/up/check", body: .bytes(Blob.bytes(size))))
            try #require(try await response.body.text() == "\(size) good length")
        }
    }

    /// nginx answers before it has received the content, or before the client has sent it.
    @Test(.timeLimit(.minutes(10)), arguments: [false, true])
    func tooMuchContentIsAnsweredEarly(waits: Bool) async throws {
        try await converse(
            "client_max_body_size 1k;", waits ? Self.waiting : Self.plain
        ) { client, nginx, _ in
            let response = try await client.send(
                HTTPRequest(
                    method: .post, url: nginx.url + "/page.txt", body: .bytes(Blob.bytes(Blob.longest))))
            try #require(response.status.code == 413)
            try #require(try await response.body.text().contains("413"))
            try #require(try await client.get(nginx.url + "/page.txt").status.code == 200)
        }
    }

    @Test(.timeLimit(.minutes(10))) func headHasNoContent() async throws {
        try await converse("") { client, nginx, _ in
            let request = try HTTPRequest(method: .head, url: nginx.url + "/page.txt")
            for _ in 0..<3 {
                let response = try await client.send(request)
                try #require(response.fields[.contentLength] == String(Self.text.utf8.count))
                try #require(try await response.body.collect().isEmpty)
            }
            try #require(client.connectionsOpened == 1)
        }
    }

    @Test(.timeLimit(.minutes(10))) func contentWithoutLengthAndChunksEndsWithTheConnection() async throws {
        try await converse("chunked_transfer_encoding off;") { client, nginx, _ in
            let response = try await client.get(nginx.url + "/up/chunked-blob/100000")
            try #require(response.fields[.contentLength] == nil)
            try #require(response.fields[.transferEncoding] == nil)
            let body = try await response.body.collect()
            try #require(body.count == 100_000 && Blob.matches(body))
        }
    }
}
