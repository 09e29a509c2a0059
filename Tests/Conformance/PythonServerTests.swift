// SPDX-License-Identifier: MIT

import LupineHTTP
import Testing

@testable import LupineTransport

/// Python's file server speaks HTTP/1.0: every response ends its connection.
@Suite struct PythonServerTests {
    private static let text = String(repeating: "1.0\n", count: 100_000)

    @Test(.timeLimit(.minutes(10))) func anHTTP10Server() async throws {
        let server = PythonServer(site: [("page.txt", Self.text), ("empty.txt", "")])
        try await ServerProcess.with(server) { python in
            let client = HTTPClient()
            for _ in 0..<3 {
                let page = try await client.get(python.url + "/page.txt")
                try #require(page.head.version == .http10)
                try #require(try await page.body.text() == Self.text)
            }
            try #require(client.connectionsOpened == 3)
            try #require(try await client.get(python.url + "/empty.txt").body.collect().isEmpty)
            let head = try await client.send(HTTPRequest(method: .head, url: python.url + "/page.txt"))
            try #require(head.fields[.contentLength] == String(Self.text.utf8.count))
            try #require(try await head.body.collect().isEmpty)
            try #require(try await client.get(python.url + "/none").status.code == 404)
            let post = try await client.send(
                HTTPRequest(method: .post, url: python.url + "/page.txt", body: .text("a=b")))
            try #require(post.status.code == 501)
            await client.shutdown()
        }
    }
}
