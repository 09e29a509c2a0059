// SPDX-License-Identifier: MIT

import LupineTransport

/// The programs in README.md, compiled without changes: `SnippetTests` compares the two.
enum ReadmeSnippets {
    static func firstProgram() async throws {
        let client = HTTPClient()
        let response = try await client.get("http://127.0.0.1:8080/")
        print(response.status, response.fields[.contentType] ?? "")
        print(try await response.body.text())
        await client.shutdown()
    }

    static func post(_ client: HTTPClient, _ document: String) async throws {
        var request = try HTTPRequest(method: .post, url: "http://127.0.0.1:8080/items")
        request.body = .text(document)
        try request.fields.append(.contentType, "application/json")
        let response = try await client.send(request)
        for try await piece in response.body {
            print(piece.count)
        }
    }

    static func pins() throws -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        configuration.tls.roots = .certificates(try Certificate.bundle(file: "/etc/lupine/roots.pem"))
        configuration.trust = .pinnedKeys([
            try PublicKeyPin("sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="),
            try PublicKeyPin("sha256/BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB="),
        ])
        let client = HTTPClient(configuration: configuration)
        return client
    }

    static func refusal(_ client: HTTPClient) async throws {
        do {
            _ = try await client.get("https://example.test/")
        } catch .tls(let host, _, .untrusted(.keyNotPinned(let expected, let found))) {
            print("\(host) has none of the keys \(expected); it has \(found)")
        }
    }
}
