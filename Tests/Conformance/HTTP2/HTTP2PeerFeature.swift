// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineTLS
import Testing

@testable import LupineTransport

/// One row: a feature of HTTP/2 that the client is tested for with every server that has it.
struct HTTP2PeerFeature: Sendable {
    let name: String
    /// The feature that a server must offer for it; nil if every server has it.
    var needs: HTTP2PeerServer.Offer?
    let run: @Sendable (HTTP2PeerStage) async throws -> Void

    static let all = contents + connections + messages

    private static func feature(
        _ name: String, _ needs: HTTP2PeerServer.Offer? = nil,
        _ body: @escaping @Sendable (HTTP2PeerStage, HTTPClient) async throws -> Void
    ) -> HTTP2PeerFeature {
        HTTP2PeerFeature(name: name, needs: needs) { stage in
            try await stage.with { client in try await body(stage, client) }
        }
    }

    private static let contents: [HTTP2PeerFeature] = [
        feature("a file, its head, and one that is not there") { stage, client in
            let file = try await stage.ask(client, .get, "/small")
            try #require(file.status == 200 && file.text == HTTP2PeerContent.small)
            let metrics = try #require(file.response.body.metrics)
            try #require(metrics.version == .http2 && metrics.tlsVersion == stage.server.tls)
            try #require(metrics.applicationProtocol == (stage.server.tls == nil ? nil : "h2"))
            let head = try await stage.ask(client, .head, "/small")
            try #require(head.status == 200 && head.body.isEmpty)
            try #require(head.response.fields[.contentLength] == String(HTTP2PeerContent.small.utf8.count))
            let none = try await stage.ask(client, .get, "/there-is-none")
            try #require(none.status == 404 && !none.body.isEmpty)
            try #require(client.connectionsOpened == 1)
        },
        feature("a large file") { stage, client in
            let response = try await client.get(stage.url("/large"))
            try #require(response.fields[.contentLength] == String(stage.large.count))
            try #require(try await stage.digest(of: response) == stage.large.digest)
        },
        feature("a large file that comes back", .longEcho) { stage, client in
            let request = try HTTPRequest(
                method: .post, url: stage.url("/echo"), body: .file(path: stage.largeFile))
            let response = try await client.send(request)
            try #require(response.status.code == 200)
            try #require(try await stage.digest(of: response) == stage.large.digest)
        },
        feature("a large file that is sent", .digest) { stage, client in
            let answer = try await stage.ask(
                client, .post, "/digest", body: .file(path: stage.largeFile))
            try #require(answer.text == stage.large.digest.map(HTTP2PeerContent.hexadecimal))
        },
        feature("content without a length that comes back", .echo) { stage, client in
            let content = Blob.bytes(min(stage.large.count, 1 << 20))
            let pieces = Pieces(content.count)
            let answer = try await stage.ask(
                client, .post, "/echo", body: .stream(length: nil) { pieces.next() })
            try #require(answer.status == 200 && answer.body == content)
        },
        feature("no content that comes back", .echo) { stage, client in
            let answer = try await stage.ask(client, .post, "/echo", body: .bytes([]))
            try #require(answer.status == 200 && answer.body.isEmpty)
        },
    ]

    private static let connections: [HTTP2PeerFeature] = [
        feature("a thousand requests at once") { stage, client in
            let texts = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<1_000 { group.addTask { try await stage.ask(client, .get, "/small").text } }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            try #require(texts == [HTTP2PeerContent.small])
            try #require(client.connectionsOpened <= client.configuration.connectionsPerHost)
        },
        feature("a hundred uploads at once", .echo) { stage, client in
            try await withThrowingTaskGroup { group in
                for number in 0..<100 {
                    group.addTask {
                        let content = Blob.bytes(number * 50)
                        let answer = try await stage.ask(client, .post, "/echo", body: .bytes(content))
                        try #require(answer.body == content)
                    }
                }
                try await group.waitForAll()
            }
            try #require(client.connectionsOpened <= client.configuration.connectionsPerHost)
        },
        feature("responses that are not read to their ends cost no connection") { stage, client in
            for _ in 0..<20 {
                let response = try await client.get(stage.url("/large"))
                var pieces = response.body.makeAsyncIterator()
                try #require(try await pieces.next() != nil)
            }
            try #require(try await stage.ask(client, .get, "/small").text == HTTP2PeerContent.small)
            try #require(client.connectionsOpened <= client.configuration.connectionsPerHost)
        },
    ]

    private static let messages: [HTTP2PeerFeature] = [
        HTTP2PeerFeature(name: "trailers of a response") { stage in
            let record = try await ExchangeRecord.of(.get, "/trailers", to: stage)
            let trailers = try record.trailers()
            try #require(record.status == 200 && record.text == "trailers")
            try #require(trailers[FieldName("X-Check")] == "done")
        },
        HTTP2PeerFeature(name: "trailers of a request", needs: .requestTrailers) { stage in
            let record = try await ExchangeRecord.of(
                .post, "/trailers", sending: [("X-Sent", "behind it")], to: stage)
            let trailers = try record.trailers()
            try #require(record.status == 200 && record.text == "trailers")
            try #require(trailers[FieldName("X-Got")] == "behind it")
        },
        HTTP2PeerFeature(name: "an early hint", needs: .earlyHints) { stage in
            let record = try await ExchangeRecord.of(.get, "/early", to: stage)
            _ = try record.trailers()
            try #require(record.interim == [103] && record.status == 200 && record.text == "late")
        },
        feature("fields that fill the table again and again") { stage, client in
            try await askWithFields(stage, client, "/small") { _, _ in }
        },
        feature("fields that fill the tables of both sides", .fields) { stage, client in
            try await askWithFields(stage, client, "/fields") { response, fields in
                for (name, value) in fields { try #require(response.fields[FieldName(name)] == value) }
            }
        },
    ]

    /// Sends more fields than the dynamic table has room for, with other values in each request. nghttpx accepts at most a
    /// hundred.
    private static func askWithFields(
        _ stage: HTTP2PeerStage, _ client: HTTPClient, _ path: String,
        _ check: (HTTPResponse, [(String, String)]) throws -> Void
    ) async throws {
        for round in 0..<20 {
            let fields = (0..<80).map { ("X-Field-\($0)", "the value \(round * $0)") }
            let answer = try await stage.ask(client, .get, path, fields: fields)
            try #require(answer.status == 200)
            try check(answer.response, fields)
        }
        try #require(client.connectionsOpened == 1)
    }
}
