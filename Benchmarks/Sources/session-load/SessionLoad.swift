// SPDX-License-Identifier: MIT
internal import Foundation
internal import LoadProgram
internal import Synchronization

#if FOUNDATION_PEER
    internal import FoundationNetworking
#else
    internal import LupineLoading
#endif

/// Loads through the session's forms. No cache and no cookies: every request goes to the server.
final class SessionLoad: Sendable {
    private let job: LoadJob
    private let session: URLSession
    private let request: URLRequest
    private let toStart = Atomic<Int>(0)
    private let toEnd = Atomic<Int>(0)
    private let bytes = Atomic<Int>(0)
    private let end = Mutex<(waiting: CheckedContinuation<Void, Never>?, failure: (any Error)?)>((nil, nil))

    init(_ job: LoadJob) throws {
        guard let url = URL(string: job.url) else { throw URLError(.badURL) }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = job.connections
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.connectionProxyDictionary = [:]
        session = URLSession(configuration: configuration)
        request = URLRequest(url: url)
        self.job = job
    }

    /// Fetches so many times, and returns the bytes of content that came.
    func run(_ requests: Int) async throws -> Int {
        toStart.store(requests, ordering: .relaxed)
        if job.form == .async { return try await awaitAll() }
        toEnd.store(requests, ordering: .relaxed)
        bytes.store(0, ordering: .relaxed)
        await withCheckedContinuation { waiting in
            end.withLock { $0.waiting = waiting }
            for _ in 0..<job.connections { next() }
        }
        if let failure = end.withLock({ $0.failure }) { throw failure }
        return bytes.load(ordering: .relaxed)
    }

    private func takesOne() -> Bool { toStart.subtract(1, ordering: .relaxed).oldValue > 0 }

    private func awaitAll() async throws -> Int {
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<job.connections {
                group.addTask { [self] in
                    var bytes = 0
                    while takesOne() {
                        let (data, response) = try await session.data(for: request)
                        try check(response)
                        bytes += data.count
                    }
                    return bytes
                }
            }
            return try await group.reduce(0, +)
        }
    }

    private func next() {
        guard takesOne() else { return }
        if job.form == .download {
            session.downloadTask(with: request) { [self] file, response, error in
                ended(response, error) {
                    guard let file else { return 0 }
                    let values = try FileManager.default.attributesOfItem(atPath: file.path)
                    return (values[.size] as? NSNumber)?.intValue ?? 0
                }
            }.resume()
        } else {
            session.dataTask(with: request) { [self] data, response, error in
                ended(response, error) { data?.count ?? 0 }
            }.resume()
        }
    }

    private func ended(_ response: URLResponse?, _ error: (any Error)?, _ count: () throws -> Int) {
        do {
            if let error { throw error }
            try check(response)
            bytes.add(try count(), ordering: .relaxed)
        } catch {
            end.withLock { $0.failure = $0.failure ?? error }
        }
        next()
        guard toEnd.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 else { return }
        end.withLock { end in
            defer { end.waiting = nil }
            return end.waiting
        }?.resume()
    }

    private func check(_ response: URLResponse?) throws {
        guard (response as? HTTPURLResponse)?.statusCode == 200 else { throw URLError(.badServerResponse) }
    }
}
