// SPDX-License-Identifier: MIT
internal import Foundation
internal import LoadProgram
internal import Lupine
internal import Synchronization

/// Loads through the pipeline's forms. No cache and no cookies: every request goes to the server. The session is otherwise
/// as it comes, notifications included.
final class PipelineLoad: Sendable {
    private let job: LoadJob
    private let session: Session
    private let toStart = Atomic<Int>(0)

    init(_ job: LoadJob) {
        let configuration = URLSessionConfiguration.af.ephemeral
        configuration.httpMaximumConnectionsPerHost = job.connections
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.connectionProxyDictionary = [:]
        session = Session(configuration: configuration)
        self.job = job
    }

    /// Fetches so many times, and returns the bytes of content that came.
    func run(_ requests: Int) async throws -> Int {
        toStart.store(requests, ordering: .relaxed)
        return try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<job.connections {
                group.addTask { [self] in
                    var bytes = 0
                    while toStart.subtract(1, ordering: .relaxed).oldValue > 0 {
                        bytes += try await fetch()
                    }
                    return bytes
                }
            }
            return try await group.reduce(0, +)
        }
    }

    private func fetch() async throws -> Int {
        switch job.form {
        case .async: return try await session.request(job.url).serializingData().value.count
        case .handler:
            return try await withCheckedThrowingContinuation { waiting in
                session.request(job.url).responseData(queue: session.rootQueue) { response in
                    waiting.resume(with: response.result.map(\.count))
                }
            }
        case .download:
            let file = try await session.download(job.url).validate().serializingDownloadedFileURL().value
            defer { try? FileManager.default.removeItem(at: file) }
            return try size(of: file)
        case .upload:
            let file = URL(
                fileURLWithPath: ProcessInfo.processInfo.environment["LUPINE_BENCH_FILE"] ?? "missing")
            _ = try await session.upload(file, to: job.url, method: .put).validate()
                .serializingData(emptyResponseCodes: [201, 204]).value
            return try size(of: file)
        }
    }

    private func size(of file: URL) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        return (attributes[.size] as? NSNumber)?.intValue ?? 0
    }
}
