// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineOrigin

/// The URL loading system at its main jobs: data, a cookie that comes back, a download that is stopped and gone on with, and
/// a web socket.
struct LoadingAct {
    let origin: LupineOrigin.Origin
    private let session = URLSession(configuration: .ephemeral)

    init(_ origin: LupineOrigin.Origin) { self.origin = origin }

    func run() async throws {
        print("URLSession, against the same origin\n")
        try await data()
        try await cookie()
        try await download()
        try await conversation()
        session.invalidateAndCancel()
    }

    private func data() async throws {
        print("data(from: /get?flower=lupinus)")
        let (data, response) = try await session.data(from: url("/get?flower=lupinus"))
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        print("  \(status), \(data.count) bytes, \(response.mimeType ?? "no type")\n")
        try require(status == 200 && !data.isEmpty, "there is an answer")
    }

    private func cookie() async throws {
        print("data(from: /cookies/set/flower/lupinus): the target of the redirect is told the cookie")
        let (data, response) = try await session.data(from: url("/cookies/set/flower/lupinus"))
        let text = String(decoding: data, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        print("  \(response.url?.path ?? ""): \(text.joined(separator: " "))\n")
        try require(text.contains { $0.contains("lupinus") }, "the cookie came back")
    }

    private func download() async throws {
        let count = 4 << 20
        print("downloadTask(with: /range/\(count)): stopped at its beginning, gone on with")
        let beginning = Beginning()
        let task = session.downloadTask(with: try url("/range/\(count)?duration=1&chunk_size=65536"))
        task.delegate = beginning
        task.resume()
        for await _ in beginning.writes { break }
        let stopped = await withCheckedContinuation { waiting in
            task.cancel { waiting.resume(returning: $0) }
        }
        guard let stopped else { throw DemoError(what: "a stopped download can be gone on with") }
        print("  stopped behind \(task.countOfBytesReceived) bytes")
        let (file, response) = try await session.download(resumeFrom: stopped)
        defer { try? FileManager.default.removeItem(at: file) }
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        let size = try Data(contentsOf: file).count
        print("  \(status), \(response.expectedContentLength) bytes more, \(size) in the file\n")
        try require(status == 206 && size == count, "the rest was added to what was there")
    }

    private func conversation() async throws {
        print("webSocketTask(with: /websocket)")
        let socket = session.webSocketTask(with: try url("/websocket", scheme: "ws"))
        socket.resume()
        try await socket.send(.string("lupinus"))
        guard case .string(let text) = try await socket.receive() else {
            throw DemoError(what: "text comes back as text")
        }
        print("  \(text) came back\n")
        socket.cancel(with: .normalClosure, reason: nil)
        try require(text == "lupinus", "what was sent comes back")
    }

    private func url(_ path: String, scheme: String = "http") throws -> URL {
        guard let url = URL(string: "\(scheme)://127.0.0.1:\(origin.port)\(path)") else {
            throw URLError(.badURL)
        }
        return url
    }

    private func require(_ condition: Bool, _ what: String) throws {
        if !condition { throw DemoError(what: what) }
    }
}

/// Says when the first bytes are in the file.
private final class Beginning: NSObject, URLSessionDownloadDelegate, Sendable {
    let writes: AsyncStream<Void>
    private let write: AsyncStream<Void>.Continuation

    override init() {
        (writes, write) = AsyncStream.makeStream()
        super.init()
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) { write.yield() }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {}
}
