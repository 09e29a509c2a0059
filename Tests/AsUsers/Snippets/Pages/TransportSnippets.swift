// SPDX-License-Identifier: MIT

import LupineTransport
import Testing

/// The snippets of `Transport.md`, run against an origin.
@Suite(.timeLimit(.minutes(10))) struct TransportSnippets {
    @Test func aFetch() async throws {
        try await API.serve { api in
            let client = HTTPClient()
            let response = try await client.get("\(api)/get")
            print(response.status, response.fields[.contentType] ?? "")
            print(try await response.body.text())
            await client.shutdown()
            #expect(response.status.code == 200)
        }
    }

    @Test func versions() {
        var configuration = HTTPClient.Configuration()
        #expect(configuration.versions == [.http11, .http2])  // not on the page
        configuration.versions = .http11
        #expect(!configuration.versions.contains(.http2))  // not on the page
    }

    @Test func aPost() async throws {
        try await API.serve { api in
            var count = 0
            var configuration = HTTPClient.Configuration()
            configuration.timeout = .seconds(30)
            configuration.redirectLimit = 5
            configuration.decodesContent = true
            let client = HTTPClient(configuration: configuration)
            var request = try HTTPRequest(method: .post, url: "\(api)/anything")
            request.body = .text("a note")
            try request.fields.append(.contentType, "text/plain")
            let response = try await client.send(request)
            for try await piece in response.body {
                count += piece.count
            }
            await client.shutdown()
            #expect(count > 0)
        }
    }

    @Test func aFailure() async throws {
        var failure = ""
        let client = HTTPClient()
        do {
            _ = try await client.get("http://127.0.0.1:1/")
        } catch {
            switch error {
            case .connect(let address, let reason): failure = "\(address): \(reason)"
            case .unreachable(let host, let port, let attempts):
                failure = "\(host):\(port): \(attempts.count) attempts"
            default: failure = "\(error)"
            }
        }
        await client.shutdown()
        #expect(!failure.isEmpty)
    }
}
