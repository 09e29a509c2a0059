// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import LupineLoading
import Testing

/// One row of the matrix: a request, and the result that every server must give.
struct MatrixFeature: Sendable {
    let name: String
    /// The feature that a server must offer for it; nil if every server has it.
    var needs: MatrixServer.Offer?
    let run: @Sendable (MatrixStage) async throws -> Void

    static let all = contents + connections + codings + uploads + answers

    private static func text(_ data: Data?) -> String? { data.map { String(decoding: $0, as: UTF8.self) } }

    private static func feature(
        _ name: String, _ needs: MatrixServer.Offer? = nil,
        _ body: @escaping @Sendable (MatrixStage, Session) async throws -> Void
    ) -> MatrixFeature {
        MatrixFeature(name: name, needs: needs) { stage in
            try await stage.with { session in try await body(stage, session) }
        }
    }

    private static let contents: [MatrixFeature] = [
        feature("a page") { stage, session in
            let response = await stage.get(session, "/page")
            try #require(text(response.value) == MatrixContent.page)
        },
        feature("a long page") { stage, session in
            try #require(text(await stage.get(session, "/large").value) == MatrixContent.large)
        },
        feature("an empty page") { stage, session in
            let response = await stage.get(session, "/empty")
            try #require(response.response?.statusCode == 200 && response.value?.isEmpty == true)
        },
        feature("a page that is not there") { stage, session in
            let response = await stage.get(session, "/there-is-none")
            try #require(response.response?.statusCode == 404 && response.value?.isEmpty == false)
        },
        feature("the head of a page") { stage, session in
            let response = await session.request(stage.url("/page"), method: .head)
                .serializingData(emptyRequestMethods: [.head]).response
            try #require(response.value?.isEmpty == true)
            try #require(response.response?.expectedContentLength == Int64(MatrixContent.page.utf8.count))
        },
        feature("chunks", .chunks) { stage, session in
            let response = await stage.get(session, "/chunks")
            try #require(text(response.value) == MatrixContent.large)
        },
        feature("a download") { stage, session in
            let response = await session.download(stage.url("/large")).serializingData().response
            defer { if let file = response.fileURL { try? FileManager.default.removeItem(at: file) } }
            try #require(text(response.value) == MatrixContent.large)
        },
        feature("a part of a page", .ranges) { stage, session in
            let path = stage.server.testDescription.hasPrefix("nginx") ? "/page" : "/range/1000"
            let whole = await stage.get(session, path).value
            let part = await stage.get(session, path, headers: ["Range": "bytes=10-19"])
            try #require(part.response?.statusCode == 206)
            try #require(part.value == whole?.dropFirst(10).prefix(10))
            let beyond = await stage.get(session, path, headers: ["Range": "bytes=9999999-"])
            try #require(beyond.response?.statusCode == 416)
        },
        feature("a page at a low rate", .slowness) { stage, session in
            try #require(text(await stage.get(session, "/slow/large").value) == MatrixContent.large)
        },
        MatrixFeature(name: "a page that is still the same", needs: .validators) { stage in
            try await stage.with({ $0.urlCache = URLCache(memoryCapacity: 16 << 20, diskCapacity: 0) }) {
                session in
                for _ in 0..<2 {
                    let response = await stage.get(session, "/page", headers: ["Cache-Control": "max-age=0"])
                    try #require(text(response.value) == MatrixContent.page)
                    try #require(response.response?.statusCode == 200)
                }
            }
        },
    ]

    private static let connections: [MatrixFeature] = [
        feature("one connection for twenty requests", .keepsAlive) { stage, session in
            var reused = 0
            for _ in 0..<20 {
                let response = await stage.get(session, "/page")
                try #require(text(response.value) == MatrixContent.page)
                if response.metrics?.transactionMetrics.last?.isReusedConnection == true { reused += 1 }
            }
            try #require(reused == 19)
        },
        feature("a server that ends connections behind five requests", .fewRequests) { stage, session in
            var reused = 0
            for _ in 0..<20 {
                let response = await stage.get(session, "/few/page")
                try #require(text(response.value) == MatrixContent.page)
                if response.metrics?.transactionMetrics.last?.isReusedConnection == true { reused += 1 }
            }
            try #require(reused == 16)
        },
        feature("twelve requests at once") { stage, session in
            let texts = await withTaskGroup(of: String?.self) { group in
                for _ in 0..<12 { group.addTask { text(await stage.get(session, "/large").value) } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            try #require(texts == Array(repeating: MatrixContent.large, count: 12))
        },
        feature("a server that says nothing", .silence) { stage, session in
            let response = await stage.get(session, "/silence")
            try #require((response.error?.underlyingError as? URLError)?.code == .networkConnectionLost)
            try #require(text(await stage.get(session, "/page").value) == MatrixContent.page)
        },
    ]

    private static func coded(_ coding: String, _ need: MatrixServer.Offer) -> MatrixFeature {
        feature("a page in \(coding)", need) { stage, session in
            let response = await stage.get(session, "/\(coding)/page", headers: ["Accept-Encoding": coding])
            try #require(response.response?.value(forHTTPHeaderField: "Content-Encoding") == coding)
            try #require(text(response.value) == MatrixContent.page)
        }
    }

    private static let codings: [MatrixFeature] = [
        coded("gzip", .gzip), coded("br", .brotli),
        feature("a file that is there in br", .staticBrotli) { stage, session in
            // `hello` in an uncompressed brotli meta-block.
            let coded: [UInt8] = [0x0B, 0x02, 0x80, 0x68, 0x65, 0x6C, 0x6C, 0x6F, 0x03]
            let file = URL(fileURLWithPath: stage.process.place.folder).appendingPathComponent("coded.txt")
            try Data("plain".utf8).write(to: file)
            try Data(coded).write(to: file.appendingPathExtension("br"))
            let response = await stage.get(session, "/static-br/coded.txt")
            try #require(response.response?.value(forHTTPHeaderField: "Content-Encoding") == "br")
            try #require(text(response.value) == "hello")
        },
    ]

    private static let uploads: [MatrixFeature] = [
        feature("content that comes back", .echo) { stage, session in
            let data = Data(MatrixContent.large.utf8)
            let response = await session.upload(data, to: stage.url("/echo")).serializingData().response
            try #require(response.value == data)
        },
        feature("content without a length that comes back", .echo) { stage, session in
            let data = Data(MatrixContent.page.utf8)
            let response = await session.upload(InputStream(data: data), to: stage.url("/echo"))
                .serializingData().response
            try #require(response.value == data)
        },
        feature("a form that comes back", .echo) { stage, session in
            let response = await session.upload(
                multipartFormData: { $0.append(Data("value".utf8), withName: "name") }, to: stage.url("/echo")
            ).serializingString().response
            try #require(response.value?.contains("name=\"name\"\r\n\r\nvalue\r\n--") == true)
        },
    ]

    private static let answers: [MatrixFeature] = [
        feature("a password that is asked for", .basic) { stage, session in
            let request = session.request(stage.url("/auth")).authenticate(username: "user", password: "pass")
            try #require(text(await request.serializingData().response.value) == "in")
            let wrong = session.request(stage.url("/auth")).authenticate(username: "user", password: "wrong")
            try #require(
                await wrong.serializingData(emptyResponseCodes: [401]).response.response?.statusCode == 401)
        },
        feature("a cookie that comes back", .cookies) { stage, session in
            _ = await stage.get(session, "/cookie")
            try #require(text(await stage.get(session, "/cookies").value) == "taste=sweet")
        },
        feature("twenty redirects", .redirects) { stage, session in
            let response = await stage.get(session, "/redirect/20")
            try #require(response.response?.statusCode == 200 && response.metrics?.redirectCount == 20)
        },
        feature("a hundred redirects", .redirects) { stage, session in
            let response = await stage.get(session, "/redirect/100")
            try #require((response.error?.underlyingError as? URLError)?.code == .httpTooManyRedirects)
        },
        feature("300 header fields", .manyFields) { stage, session in
            let response = await stage.get(session, "/many")
            for number in 0..<300 {
                try #require(response.response?.value(forHTTPHeaderField: "X-Many-\(number)") == "\(number)")
            }
        },
        feature("a header field of 8 KiB", .manyFields) { stage, session in
            let value = await stage.get(session, "/wide").response?.value(forHTTPHeaderField: "X-Wide")
            try #require(value == String(repeating: "w", count: 8_192))
        },
    ]
}
