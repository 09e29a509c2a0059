// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import LupineTLS
import LupineTransport

/// A kind of work that programs do, performed once per piece. Every response is checked; a wrong one throws.
enum SoakWork: String, CaseIterable {
    case request, parameters, uploadData, uploadFile, uploadForm, downloadFile, resumedDownload, stream,
        leftStream
    case webSocket, cancelledEarly, cancelledLate, secure, secureAfresh, cached, revalidated, redirect, gzip,
        brotli, basic,
        digest, retry, cookies, refused, ownSession

    /// Whether it applies to HTTP/2, too, which a new connection for each request does not.
    var isForEitherVersion: Bool { self != .secureAfresh }

    /// Performs it once.
    func run(_ stage: SoakStage, _ number: Int) async throws {
        switch self {
        case .request:
            let size = [0, 1, 100, 1_460, 20_000, 300_000][number % 6]
            let data = try await stage.session.request("\(stage.root)/range/\(size)").validate()
                .serializingData(emptyResponseCodes: [200]).value
            try stage.require(data == stage.alphabet(size), "\(size) bytes")
        case .parameters: try await parameters(stage, number)
        case .uploadData, .uploadFile: try await upload(stage, number)
        case .uploadForm: try await form(stage)
        case .downloadFile: try await download(stage, number)
        case .resumedDownload: try await resumedDownload(stage, number)
        case .stream: try await stream(stage, leaving: false)
        case .leftStream: try await stream(stage, leaving: true)
        case .webSocket: try await webSocket(stage, number)
        case .cancelledEarly: try await cancelled(stage, after: nil)
        case .cancelledLate: try await cancelled(stage, after: .milliseconds(number % 7))
        case .secure: try await secure(stage, "/tls")
        case .secureAfresh: try await secure(stage, "/tls-once")
        case .cached: try await text(stage, "/cache/3600?page=\(number % 8)")
        case .revalidated: try await text(stage, "/etag/page\(number % 8)")
        case .redirect: try await text(stage, "/redirect/3")
        case .gzip: try await text(stage, "/gzip")
        case .brotli: try await text(stage, "/brotli")
        case .basic:
            try await authenticated(stage, "/basic-auth/user\(number % 4)/secret", "user\(number % 4)")
        case .digest: try await authenticated(stage, "/digest-auth/auth/user/secret", "user")
        case .retry: try await retried(stage)
        case .cookies: try await text(stage, "/cookies/set/name\(number % 8)/value\(number)", number)
        case .refused: try await refused(stage)
        case .ownSession: try await ownSession(stage)
        }
    }

    /// Requests a path that answers with JSON, and checks the response.
    private func text(_ stage: SoakStage, _ path: String, _ value: Int? = nil) async throws {
        let text = try await stage.session.request(stage.root + path).validate().serializingString().value
        let isRight = value.map { text.contains("value\($0)") || text.contains("cookies") } ?? true
        try stage.require(isRight && text.hasPrefix("{"), "\(path): \(text.prefix(100))")
    }

    private func parameters(_ stage: SoakStage, _ number: Int) async throws {
        struct Echo: Decodable { let form: [String: String] }
        let echo = try await stage.session.request(
            "\(stage.root)/post", method: .post, parameters: ["number": "\(number)"]
        ).validate().serializingDecodable(Echo.self).value
        try stage.require(echo.form == ["number": "\(number)"], "parameters: \(echo)")
    }

    private struct Hash: Decodable {
        let bytes: Int
        let sha256: String
    }

    private func upload(_ stage: SoakStage, _ number: Int) async throws {
        let request =
            self == .uploadFile
            ? stage.session.upload(stage.file, to: "\(stage.root)/hash")
            : stage.session.upload(stage.fileContent, to: "\(stage.root)/hash", method: .put)
        let hash = try await request.validate().serializingDecodable(Hash.self).value
        try stage.require(
            hash.bytes == stage.fileContent.count && hash.sha256 == stage.fileDigest, "upload: \(hash)")
    }

    private func form(_ stage: SoakStage) async throws {
        struct Parts: Decodable { let parts: [Hash] }
        let file = stage.file
        let request = stage.session.upload(
            multipartFormData: { form in
                form.append(file, withName: "file")
                form.append(Data("small".utf8), withName: "word")
            }, to: "\(stage.root)/upload")
        let parts = try await request.validate().serializingDecodable(Parts.self).value.parts
        try stage.require(
            parts.map(\.bytes) == [stage.fileContent.count, 5] && parts[0].sha256 == stage.fileDigest,
            "form: \(parts)")
    }

    private func download(_ stage: SoakStage, _ number: Int) async throws {
        let size = [10, 70_000, 1_000_000][number % 3]
        let place = stage.newFile()
        defer { try? FileManager.default.removeItem(at: place) }
        let file = try await stage.session.download(
            "\(stage.root)/range/\(size)", to: { _, _ in (place, []) }
        ).validate().serializingDownloadedFileURL().value
        try stage.require(try Data(contentsOf: file) == stage.alphabet(size), "download of \(size)")
    }

    private func resumedDownload(_ stage: SoakStage, _ number: Int) async throws {
        let size = 400_000
        let place = stage.newFile()
        defer { try? FileManager.default.removeItem(at: place) }
        let destination: DownloadRequest.Destination = { _, _ in (place, [.removePreviousFile]) }
        let begun = stage.session.download(
            "\(stage.root)/range/\(size)?duration=0.05&chunk_size=20000", to: destination)
        // Captured weakly, because a request holds its handlers.
        begun.downloadProgress(queue: stage.queue) { [weak begun] progress in
            if progress.fractionCompleted > 0.3 { begun?.cancel(producingResumeData: true) }
        }
        let cut = await begun.serializingDownloadedFileURL().response
        if cut.error != nil {
            // A cancellation after the last byte produces no resume data; the download restarts.
            stage.tally.withLock { tally in
                tally.cuts += 1
                if cut.resumeData == nil { tally.restarts += 1 }
            }
            let rest =
                cut.resumeData.map { stage.session.download(resumingWith: $0, to: destination) }
                ?? stage.session.download("\(stage.root)/range/\(size)", to: destination)
            _ = try await rest.validate().serializingDownloadedFileURL().value
        }
        try stage.require(try Data(contentsOf: place) == stage.alphabet(size), "resumed download")
    }

    private func stream(_ stage: SoakStage, leaving: Bool) async throws {
        let path = leaving ? "/infinite" : "/stream-bytes/200000?seed=1"
        var count = 0
        for await part in stage.session.streamRequest(stage.root + path).streamTask().streamingData() {
            count += part.value?.count ?? 0
            if let error = part.completion?.error { throw error }
            if leaving, count > 100_000 { break }
        }
        try stage.require(leaving || count == 200_000, "a stream brought \(count) bytes")
    }

    private func webSocket(_ stage: SoakStage, _ number: Int) async throws {
        let deflates = number % 2 == 0
        let address =
            stage.root.replacingOccurrences(of: "http", with: "ws") + "/websocket?deflate=\(deflates ? 1 : 0)"
        let task = stage.session.webSocketRequest(to: address).webSocketTask()
        var echoes: [String] = []
        let sent = ["one", String(repeating: "two ", count: 5_000), "three"]
        for await event in task.streamingMessageEvents() {
            switch event.kind {
            case .connected: for text in sent { try await task.send(.string(text)) }
            case .receivedMessage(.string(let text)):
                echoes.append(text)
                if echoes.count == sent.count { task.close(sending: .normalClosure) }
            default: break
            }
        }
        try stage.require(echoes == sent, "a web socket: \(echoes.map(\.count))")
    }

    /// Cancels a request early or late, and checks that it ends.
    private func cancelled(_ stage: SoakStage, after delay: Duration?) async throws {
        let request = stage.session.request("\(stage.root)/drip?duration=60")
        let task = request.serializingData()
        if let delay { await Pause.of(delay) }
        request.cancel()
        let response = await task.response
        try stage.require(response.error?.isExplicitlyCancelledError == true, "cancelled: \(response)")
    }

    private func secure(_ stage: SoakStage, _ path: String) async throws {
        let response = await stage.session.request(stage.secureRoot + path).validate()
            .serializingString().response
        _ = try response.result.get()
        guard let transaction = response.metrics?.transactionMetrics.last else {
            throw Endurance.Failure("no metrics")
        }
        if transaction.secureConnectionStartDate != nil {
            let isResumed = response.value?.contains(#""resumed": true"#) ?? false
            stage.tally.withLock { tally in
                tally.handshakes += 1
                if isResumed { tally.resumptions += 1 }
            }
        }
    }

    private func authenticated(_ stage: SoakStage, _ path: String, _ user: String) async throws {
        let request = stage.session.request(stage.root + path).authenticate(
            username: user, password: "secret")
        let text = try await request.validate().serializingString().value
        try stage.require(text.contains(user), "\(path): \(text)")
    }

    private func retried(_ stage: SoakStage) async throws {
        let policy = RetryPolicy(retryLimit: 2, exponentialBackoffScale: 0.001)
        let request = stage.session.request("\(stage.root)/status/503", interceptor: policy).validate()
        let response = await request.serializingData().response
        try stage.require(
            response.error?.responseCode == 503 && request.retryCount == 2, "retries: \(response)")
    }

    /// Sends a request to a port on which no socket listens.
    private func refused(_ stage: SoakStage) async throws {
        let response = await stage.session.request("http://127.0.0.1:1/").serializingData().response
        let error = response.error?.underlyingError as? URLError
        try stage.require(error?.code == .cannotConnectToHost, "refused: \(response)")
    }

    private func ownSession(_ stage: SoakStage) async throws {
        let session = stage.newSession()
        let data = try await session.request("\(stage.root)/range/100").validate().serializingData().value
        try stage.require(data == stage.alphabet(100), "a session of its own")
    }
}
