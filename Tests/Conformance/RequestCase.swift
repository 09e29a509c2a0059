// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineOrigin
import Testing

@testable import LupineTransport

/// A request that a client must be able to make by every way to the origin.
struct RequestCase: Sendable {
    let name: String
    let run: @Sendable (Conversation) async throws -> Void

    private static let sizes = [0, 1_024, Blob.longest]

    static let all: [RequestCase] = transfers + connections + redirects + fields + truncations

    private static let transfers: [RequestCase] = sizes.flatMap { size in
        [
            download(size), chunkedDownload(size), head(size), upload(size), chunkedUpload(size),
            fileUpload(size),
        ]
    }

    private static let connections = [
        RequestCase(name: "one connection for twenty requests, where the way keeps one") { talk in
            let client = HTTPClient(configuration: talk.configuration)
            for _ in 0..<20 {
                let answer = try await talk.ask(.get, "/blob/100", with: client)
                try #require(Blob.matches(answer.body) && answer.body.count == 100)
            }
            let opened = client.connectionsOpened
            await client.shutdown()
            try #require(opened == (talk.way.keepsAlive ? 1 : 20))
        },
        RequestCase(name: "twelve requests at once through six connections") { talk in
            try await withThrowingTaskGroup { group in
                for _ in 0..<12 {
                    group.addTask {
                        let answer = try await talk.ask(.get, "/blob/300000")
                        try #require(answer.body.count == 300_000 && Blob.matches(answer.body))
                    }
                }
                try await group.waitForAll()
            }
        },
    ]

    private static let redirects = [
        RequestCase(name: "404 with its content") { talk in
            let answer = try await talk.ask(.get, "/there-is-no-such-path")
            try #require(answer.status == 404)
            try #require(!answer.body.isEmpty)
        },
        RequestCase(name: "redirects are followed") { talk in
            var configuration = talk.configuration
            configuration.redirectLimit = 4
            let client = HTTPClient(configuration: configuration)
            let answer = try await talk.ask(.get, "/redirect/3", with: client)
            try #require(answer.status == 200)
            try #require(answer.response.url.target == "/get")
            await client.shutdown()
        },
        RequestCase(name: "307 sends the content again") { talk in
            var configuration = talk.configuration
            configuration.redirectLimit = 1
            let client = HTTPClient(configuration: configuration)
            let answer = try await talk.ask(
                .post, "/redirect-to?url=/check&status_code=307", body: .bytes(Blob.bytes(5_000)),
                with: client)
            try #require(answer.text == "5000 good length")
            await client.shutdown()
        },
        RequestCase(name: "a redirect that is not followed is handed out") { talk in
            let answer = try await talk.ask(.get, "/redirect/1")
            try #require(answer.status == 302)
            try #require(answer.response.fields[.location] == "/get")
        },
    ]

    private static let fields = [
        RequestCase(name: "large fields in both directions") { talk in
            talk.origin.route("GET", "/large-fields") { request throws(Refusal) in
                var response = OriginResponse()
                for index in 0..<8 {
                    let value = request.field("X-Large-\(index)") ?? "none"
                    try response.add("X-Echo-\(index)", value + value)
                }
                return response
            }
            var fields = Fields()
            let value = String(repeating: "abcdefgh", count: 300)
            for index in 0..<8 { try fields.append(FieldName("X-Large-\(index)"), value) }
            let answer = try await talk.ask(.get, "/large-fields", fields: fields)
            try #require(answer.status == 200)
            for index in 0..<8 {
                try #require(answer.response.fields[try FieldName("X-Echo-\(index)")] == value + value)
            }
        },
        RequestCase(name: "Host names the origin, and no proxy's password reaches it") { talk in
            let answer = try await talk.ask(.get, "/headers")
            try #require(answer.text.contains("\(talk.way.host):\(talk.origin.port)"))
            try #require(!answer.text.lowercased().contains("proxy-authorization"))
            try #require(answer.text.lowercased().contains("\"via\"") == (talk.way.between == .proxy))
        },
    ]

    private static let truncations = [
        truncated(
            "in content of known length", "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhello",
            .insideBody(received: 5, expected: 1_000)),
        truncated(
            "in a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1000\r\nhello",
            .insideChunk(received: 5)),
        RequestCase(name: "cut short in the head") { talk in
            talk.origin.script(
                "GET", "/cut-head", ScriptPlan(.send("HTTP/1.1 200 OK\r\nContent-Le"), .close))
            switch talk.way.between {
            case .nobody:
                guard
                    case .http(_, _, .truncated(.insideHead(received: 27))) = try await talk.failure(
                        "/cut-head")
                else { throw RowFailure("another error") }
            case .proxy:
                let status = try await talk.ask(.get, "/cut-head").status
                try #require(status >= 500)
            }
        },
    ]

    private static func download(_ size: Int) -> RequestCase {
        RequestCase(name: "GET of \(size) bytes") { talk in
            let answer = try await talk.ask(.get, "/blob/\(size)")
            try #require(answer.status == 200)
            try #require(answer.response.fields[.contentLength] == String(size))
            try #require(answer.body.count == size && Blob.matches(answer.body))
        }
    }

    private static func chunkedDownload(_ size: Int) -> RequestCase {
        RequestCase(name: "GET of \(size) bytes in chunks") { talk in
            let answer = try await talk.ask(.get, "/chunked-blob/\(size)")
            try #require(answer.body.count == size && Blob.matches(answer.body))
        }
    }

    private static func head(_ size: Int) -> RequestCase {
        RequestCase(name: "HEAD of \(size) bytes") { talk in
            let answer = try await talk.ask(.head, "/blob/\(size)")
            try #require(answer.response.fields[.contentLength] == String(size))
            try #require(answer.body.isEmpty)
        }
    }

    private static func upload(_ size: Int) -> RequestCase {
        RequestCase(name: "POST of \(size) bytes") { talk in
            let answer = try await talk.ask(.post, "/check", body: .bytes(Blob.bytes(size)))
            try #require(answer.text == "\(size) good length")
        }
    }

    private static func chunkedUpload(_ size: Int) -> RequestCase {
        RequestCase(name: "POST of \(size) bytes in chunks") { talk in
            let pieces = Pieces(size)
            let body = HTTPRequest.Body.stream(length: nil) { pieces.next() }
            let answer = try await talk.ask(.post, "/check", body: body)
            // A proxy may have read the whole content, and know its length, before it forwards it.
            try #require(answer.text.hasPrefix("\(size) good"))
            if talk.way.between == .nobody { try #require(answer.text.hasSuffix("chunked")) }
        }
    }

    private static func fileUpload(_ size: Int) -> RequestCase {
        RequestCase(name: "PUT of a file of \(size) bytes") { talk in
            let path = NSTemporaryDirectory() + "lupine-blob-" + UUID().uuidString
            try Data(Blob.bytes(size)).write(to: URL(fileURLWithPath: path))
            defer { try? FileManager.default.removeItem(atPath: path) }
            let answer = try await talk.ask(.put, "/check", body: .file(path: path))
            try #require(answer.text == "\(size) good length")
        }
    }

    /// The origin closes the connection in the middle of the content, which must be an error, not a complete response.
    private static func truncated(
        _ place: String, _ text: String, _ expected: HTTPError.Truncation
    ) -> RequestCase {
        RequestCase(name: "cut short \(place)") { talk in
            let path = "/cut-" + place.filter { $0 != " " }
            talk.origin.script("GET", path, ScriptPlan(.send(text), .close))
            let error = try await talk.failure(path)
            guard case .http(_, _, .truncated(let found)) = error else { throw RowFailure("\(error)") }
            if talk.way.between == .nobody { try #require(found == expected) }
        }
    }
}

/// Content that is supplied in pieces of an odd size.
final class Pieces: Sendable {
    private let size: Int
    private let sent = Lock(0)

    init(_ size: Int) { self.size = size }

    func next() -> [UInt8]? {
        let piece = sent.withLock { sent -> Range<Int> in
            let from = sent
            sent = min(size, sent + 100_003)
            return from..<sent
        }
        return piece.isEmpty ? nil : Blob.bytes(piece)
    }
}
